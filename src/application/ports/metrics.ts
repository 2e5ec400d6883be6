import type { WebhookAttemptOutcome, WebhookPauseReason } from './webhooks.js';

/** An event that code counts: the published name of its counter, and the value of the label. */
export type CountedEvent =
  | [counter: 'rate_limiter_fallback_total']
  | [counter: 'webhook_deliveries_total', outcome: WebhookAttemptOutcome]
  | [counter: 'webhook_pauses_total', reason: WebhookPauseReason];

/** Counts events of the service for monitoring. */
export interface Metrics {
  increment(...event: CountedEvent): void;
}

/** One metric of one process: plain data, as it travels to another process as JSON. */
export interface MetricFigures {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  /** How the values of several processes become one. */
  readonly aggregator: string;
  readonly values: readonly MetricValue[];
}

export interface MetricValue {
  /** The name with its suffix, if this is a part of a histogram. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  /** Finite, because JSON has no other numbers. */
  readonly value: number;
}

/** Makes one report of the figures of several processes. */
export interface MetricsMerger {
  /** Returns one metric of each name. */
  merge(processes: readonly (readonly MetricFigures[])[]): Promise<readonly MetricFigures[]>;
  /**
   * Returns the text that Prometheus reads.
   * @param workers the processes that serve requests, and how many of them have reported their current figures
   */
  report(
    processes: readonly (readonly MetricFigures[])[],
    workers: { readonly serving: number; readonly reporting: number },
  ): Promise<string>;
}
