import type { Clock } from '../../../application/ports/clock.js';
import type { CountedEvent, MetricFigures, Metrics, MetricValue } from '../../../application/ports/metrics.js';
import {
  type EndStoreCall,
  HTTP_METHODS,
  type Observer,
  type RequestEntry,
  type StoreCall,
} from '../../../application/ports/observer.js';
import type { RateLimiter, RatePolicy, RateState } from '../../../application/ports/rate-limiter.js';
import { AppError } from '../../../domain/errors.js';
import { andThen, type MaybePromise } from '../../../shared/promises.js';
import { definitionOf, type Labels, type MetricName, type Sample } from './definitions.js';
import { figuresOf, ProcessMetrics, PrometheusMerger } from './merger.js';

/**
 * The counters with one label or none, and the values of the label that are reported from the start: the increase of a
 * series that begins with 1 is 0.
 */
const COUNTERS = {
  authentication_failures_total: ['unauthenticated', 'invalid_token', 'token_expired'],
  idempotent_replays_total: [''],
  rate_limiter_fallback_total: [''],
  webhook_deliveries_total: [],
  webhook_pauses_total: ['expired', 'gone', 'key', 'damaged'],
} satisfies Partial<Record<MetricName, readonly string[]>> & Record<CountedEvent[0], readonly string[]>;

const FAILURES = 'authentication_failures_total';
const REQUESTS = 'http_server_request_duration_seconds';
const CALLS = 'db_client_operation_duration_seconds';
/** In seconds; the advice of the semantic conventions. */
const REQUEST_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const CALL_BOUNDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

const METHODS = ['_OTHER', ...HTTP_METHODS];
const METHOD_NUMBERS: ReadonlyMap<string, number> = new Map(METHODS.map((method, at) => [method, at]));
const STATUSES = 1_000;

/**
 * The metrics of this process. They count from its start, and are put together when Prometheus asks for them. Every
 * label has few values: methods, statuses, routes and operations of the service, never of a client.
 */
export class PrometheusMetrics implements Metrics, Observer {
  /** The media type of {@link text}. */
  readonly contentType = 'text/plain; version=0.0.4; charset=utf-8';
  activeRequests = 0;
  /** By route, then by the number that method and status make. */
  private readonly requests = new Map<string, Map<number, Histogram>>();
  /** By call, then by error. A call is one value, so it is its own key. */
  private readonly calls = new Map<StoreCall, Map<string | undefined, Histogram>>();
  private readonly versions = new Map<number, { current: number; deprecated: number }>();
  /** By name, then by the value of the label. */
  private readonly counters = new Map<MetricName, Map<string, number>>();
  private readonly limiters: CountedRateLimiter[] = [];
  private readonly process = new ProcessMetrics();
  private readonly sources = new Map<MetricName, () => Promise<MetricFigures>>();

  constructor(private readonly clock: Pick<Clock, 'elapsed'>) {
    this.sources.set(REQUESTS, async () => figuresOf(REQUESTS, this.requestDurations()));
    this.sources.set(CALLS, async () => figuresOf(CALLS, this.callDurations()));
    for (const [name, values] of Object.entries(COUNTERS)) this.addCounter(name as MetricName, values);
    this.collect('http_server_active_requests', () => [{ labels: {}, value: this.activeRequests }]);
    this.collect('api_requests_total', () =>
      [...this.versions].flatMap(([version, { current, deprecated }]) => [
        { labels: { api_version: `${version}`, deprecated: 'false' }, value: current },
        { labels: { api_version: `${version}`, deprecated: 'true' }, value: deprecated },
      ]),
    );
    this.collect('rate_limit_decisions_total', () => this.limiters.flatMap((limiter) => limiter.decisions()));
  }

  increment(counter: keyof typeof COUNTERS, label = '', by = 1): void {
    const counts = this.counters.get(counter);
    counts?.set(label, (counts.get(label) ?? 0) + by);
  }

  request(): this {
    this.activeRequests++;
    return this;
  }

  /** Counts a request that {@link request} has begun. */
  end({ method, route, version, status = 0, isDeprecated, errorCode, ...entry }: RequestEntry): void {
    this.activeRequests--;
    const number = (METHOD_NUMBERS.get(method) ?? 0) * STATUSES + status;
    const duration = entryOf(entryOf(this.requests, route, newMap), number, newRequestHistogram);
    duration.observe(Math.max(0, entry.durationMs - (entry.waitedMs ?? 0)) / 1_000);
    if (version !== undefined) entryOf(this.versions, version, newVersion)[isDeprecated ? 'deprecated' : 'current']++;
    if (entry.replays > 0) this.increment('idempotent_replays_total', '', entry.replays);
    if (errorCode !== undefined && this.counters.get(FAILURES)?.has(errorCode)) this.increment(FAILURES, errorCode);
  }

  storeCall(call: StoreCall): EndStoreCall {
    const started = this.clock.elapsed();
    return (error) => {
      const seconds = (this.clock.elapsed() - started) / 1_000;
      const type = error === undefined ? undefined : errorType(error);
      entryOf(entryOf(this.calls, call, newMap), type, newCallHistogram).observe(seconds);
    };
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
      const finite = (await read()).filter(({ value }) => Number.isFinite(value));
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

  private addCounter(name: MetricName, values: readonly string[]): void {
    const counts = new Map(values.map((value) => [value, 0]));
    const [label] = definitionOf(name).labels;
    this.counters.set(name, counts);
    this.sources.set(name, async () =>
      figuresOf(
        name,
        [...counts].map(([key, value]) => ({ labels: label === undefined ? {} : { [label]: key }, value })),
      ),
    );
  }

  private requestDurations(): MetricValue[] {
    return [...this.requests].flatMap(([route, histograms]) =>
      [...histograms].flatMap(([number, histogram]) => {
        const status = number % STATUSES;
        const labels: Labels<typeof REQUESTS> = {
          http_request_method: METHODS[Math.floor(number / STATUSES)],
          http_route: route,
          http_response_status_code: status === 0 ? undefined : `${status}`,
        };
        return histogram.values(REQUESTS, definedLabels(labels));
      }),
    );
  }

  private callDurations(): MetricValue[] {
    return [...this.calls].flatMap(([{ system, collection, operation }, histograms]) =>
      [...histograms].flatMap(([error, histogram]) => {
        const labels: Labels<typeof CALLS> = {
          db_system_name: system,
          db_collection_name: collection,
          db_operation_name: operation,
          error_type: error,
        };
        return histogram.values(CALLS, definedLabels(labels));
      }),
    );
  }
}

/**
 * One series of a histogram. By hand: an observation adds to two numbers in 0.03 µs. prom-client hashes the labels of
 * each observation in 0.4 µs, and would have to be loaded at the start.
 */
class Histogram {
  /** By bucket; the last one has no bound. */
  private readonly counts: number[];
  private sum = 0;

  /** @param bounds the upper bounds of the buckets, ascending */
  constructor(private readonly bounds: readonly number[]) {
    this.counts = [...bounds.map(() => 0), 0];
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at++;
    counts[at] = (counts[at] as number) + 1;
    this.sum += value;
  }

  values(name: string, labels: MetricValue['labels']): MetricValue[] {
    let count = 0;
    const buckets = this.counts.map((inBucket, at) => {
      count += inBucket;
      const le = this.bounds[at] ?? '+Inf';
      return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}

const newRequestHistogram = () => new Histogram(REQUEST_BOUNDS);
const newCallHistogram = () => new Histogram(CALL_BOUNDS);
const newVersion = () => ({ current: 0, deprecated: 0 });
const newMap = <Key>() => new Map<Key, Histogram>();

/** Returns the entry of a key, which is made at its first use. */
function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const existing = map.get(key);
  if (existing !== undefined) return existing;
  const made = make();
  map.set(key, made);
  return made;
}

/** The labels that apply. */
function definedLabels(labels: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** The conventions name every unknown error `_OTHER`. */
function errorType(error: unknown): string {
  return error instanceof AppError ? error.code : '_OTHER';
}

class CountedRateLimiter implements RateLimiter {
  readonly policy: RatePolicy;
  private allowed = 0;
  private limited = 0;

  constructor(private readonly limiter: RateLimiter) {
    this.policy = limiter.policy;
  }

  consume(caller: string): MaybePromise<RateState> {
    return andThen(this.limiter.consume(caller), this.count);
  }

  /** Counts only a refusal: a caller that is not refused here is counted when it consumes. */
  peek(caller: string): MaybePromise<RateState> {
    return andThen(this.limiter.peek(caller), (state) => (state.allowed ? state : this.count(state)));
  }

  decisions(): Sample<'rate_limit_decisions_total'>[] {
    const { policy, allowed, limited } = this;
    return [
      { labels: { policy: policy.name, decision: 'allowed' }, value: allowed },
      { labels: { policy: policy.name, decision: 'limited' }, value: limited },
    ];
  }

  private readonly count = (state: RateState): RateState => {
    if (state.allowed) this.allowed++;
    else this.limited++;
    return state;
  };
}
