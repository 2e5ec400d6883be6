/** What is counted, by the names under which it is published. */
export type CounterName = 'rate_limiter_fallback_total';

/** Counts what befalls the service, for whoever watches it from outside. */
export interface Metrics {
  increment(counter: CounterName): void;
}
