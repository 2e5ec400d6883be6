import type { MetricValue } from '../../../application/ports/metrics.js';
import type { RequestEntry, RequestObserver } from '../../../application/ports/request-observer.js';
import { HTTP_METHODS } from '../../../shared/http-methods.js';
import { BucketCounts, definedLabels, entryOf } from './bucket-counts.js';
import type { Labels, Sample } from './definitions.js';

const DURATION = 'http_server_request_duration_seconds';

/** Seconds; the advice of the semantic conventions. */
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

const METHODS = ['_OTHER', ...HTTP_METHODS];
const METHOD_NUMBERS: ReadonlyMap<string, number> = new Map(METHODS.map((method, at) => [method, at]));

/** The error codes of a refused credential. */
const FAILURES = ['unauthenticated', 'invalid_token', 'token_expired'];

const STATUSES = 1_000;

const newSeries = () => new BucketCounts(BOUNDS);
const newCounts = () => ({ current: 0, deprecated: 0 });
const newMap = () => new Map<number, BucketCounts>();

/** Counts requests. Every label has few values: methods, statuses and routes of the service, never of a client. */
export class RequestMetrics implements RequestObserver {
  private active = 0;
  private replays = 0;
  /** By route, then by the number that method and status make. */
  private readonly durations = new Map<string, Map<number, BucketCounts>>();
  private readonly byVersion = new Map<number, { current: number; deprecated: number }>();
  private readonly failures = new Map(FAILURES.map((code) => [code, 0]));

  begin(): void {
    this.active++;
  }

  end(entry: RequestEntry): void {
    this.active--;
    this.replays += entry.replays;
    this.seriesOf(entry).observe(Math.max(0, entry.durationMs - (entry.waitedMs ?? 0)) / 1_000);
    if (entry.version !== undefined) {
      const counts = entryOf(this.byVersion, entry.version, newCounts);
      counts[entry.isDeprecated ? 'deprecated' : 'current']++;
    }
    const { errorCode } = entry;
    const failed = errorCode === undefined ? undefined : this.failures.get(errorCode);
    if (failed !== undefined) this.failures.set(errorCode as string, failed + 1);
  }

  activeRequests(): Sample<'http_server_active_requests'>[] {
    return [{ labels: {}, value: this.active }];
  }

  apiRequests(): Sample<'api_requests_total'>[] {
    return [...this.byVersion].flatMap(([version, { current, deprecated }]) => [
      { labels: { api_version: String(version), deprecated: 'false' }, value: current },
      { labels: { api_version: String(version), deprecated: 'true' }, value: deprecated },
    ]);
  }

  authenticationFailures(): Sample<'authentication_failures_total'>[] {
    return [...this.failures].map(([code, value]) => ({ labels: { error_code: code }, value }));
  }

  idempotentReplays(): Sample<'idempotent_replays_total'>[] {
    return [{ labels: {}, value: this.replays }];
  }

  requestDurations(): MetricValue[] {
    return [...this.durations].flatMap(([route, series]) =>
      [...series].flatMap(([number, counts]) => {
        const status = number % STATUSES;
        const labels: Labels<typeof DURATION> = {
          http_request_method: METHODS[Math.floor(number / STATUSES)],
          http_route: route,
          http_response_status_code: status === 0 ? undefined : String(status),
        };
        return counts.values(DURATION, definedLabels(labels));
      }),
    );
  }

  private seriesOf({ method, route, status = 0 }: RequestEntry): BucketCounts {
    const number = (METHOD_NUMBERS.get(method) ?? 0) * STATUSES + status;
    return entryOf(entryOf(this.durations, route, newMap), number, newSeries);
  }
}
