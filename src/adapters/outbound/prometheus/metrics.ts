import type { Clock } from '../../../application/ports/clock.js';
import type { CounterName, MetricFigures, Metrics } from '../../../application/ports/metrics.js';
import type { RateLimiter } from '../../../application/ports/rate-limiter.js';
import { definedLabels } from './bucket-counts.js';
import { CountedRateLimiter } from './counted-rate-limiter.js';
import type { MetricName, Sample } from './definitions.js';
import { figuresOf, ProcessMetrics, PrometheusMerger } from './merger.js';
import { RequestMetrics } from './request-metrics.js';
import { StoreMetrics } from './store-metrics.js';

type Values = () => Promise<MetricFigures>;

/** The metrics of this process. They count from its start, and are put together when Prometheus asks for them. */
export class PrometheusMetrics implements Metrics {
  /** The media type of {@link text}. */
  readonly contentType = 'text/plain; version=0.0.4; charset=utf-8';
  readonly requests = new RequestMetrics();
  readonly store: StoreMetrics;
  private readonly counts = new Map<CounterName, number>();
  private readonly limiters: CountedRateLimiter[] = [];
  private readonly process = new ProcessMetrics();
  private readonly sources = new Map<MetricName, Values>();

  constructor(clock: Pick<Clock, 'elapsed'>) {
    const { requests } = this;
    this.store = new StoreMetrics(clock);
    const durations = 'http_server_request_duration_seconds';
    this.sources.set(durations, async () => figuresOf(durations, requests.requestDurations()));
    this.collect('http_server_active_requests', () => requests.activeRequests());
    this.collect('api_requests_total', () => requests.apiRequests());
    this.collect('authentication_failures_total', () => requests.authenticationFailures());
    this.collect('idempotent_replays_total', () => requests.idempotentReplays());
    this.collect('rate_limit_decisions_total', () => this.limiters.flatMap((limiter) => limiter.decisions()));
    const fallbacks = 'rate_limiter_fallback_total';
    this.collect(fallbacks, () => [{ labels: {}, value: this.counts.get(fallbacks) ?? 0 }]);
    const operations = 'db_client_operation_duration_seconds';
    this.sources.set(operations, async () => figuresOf(operations, this.store.operationDurations()));
  }

  increment(counter: CounterName): void {
    this.counts.set(counter, (this.counts.get(counter) ?? 0) + 1);
  }

  /** Returns the limiter, whose decisions are counted from now on. */
  counted(limiter: RateLimiter): RateLimiter {
    const counted = new CountedRateLimiter(limiter);
    this.limiters.push(counted);
    return counted;
  }

  /** Reads the values of a metric at every scrape. Values that are not finite are omitted. */
  collect<Name extends MetricName>(
    name: Name,
    read: () => readonly Sample<Name>[] | Promise<readonly Sample<Name>[]>,
  ): void {
    this.sources.set(name, async () => {
      const samples = await read();
      const finite = samples.filter(({ value }) => Number.isFinite(value));
      return figuresOf(
        name,
        finite.map(({ labels, value }) => ({ labels: definedLabels(labels), value })),
      );
    });
  }

  /** All current values of this process. */
  async figures(): Promise<readonly MetricFigures[]> {
    const own = await Promise.all([...this.sources.values()].map((read) => read()));
    return [...own, ...(await this.process.figures())];
  }

  /** The report of this process alone, in Prometheus' text exposition format 0.0.4. */
  async text(): Promise<string> {
    return new PrometheusMerger().report([await this.figures()], { serving: 1, reporting: 1 });
  }
}
