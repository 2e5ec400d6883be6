/** The published names of the counters. */
export type CounterName = 'rate_limiter_fallback_total';

/** Counts events of the service for monitoring. */
export interface Metrics {
  increment(counter: CounterName): void;
}
