import type {
  WebhookAttemptOutcome,
  WebhookObserver,
  WebhookPauseReason,
} from '../../../application/ports/webhooks.js';
import type { PrometheusMetrics } from './metrics.js';

/** Counts what webhooks send. */
export class WebhookMetrics implements WebhookObserver {
  private readonly attempts = new Map<WebhookAttemptOutcome, number>();
  /** From 0 on: the increase of a series that begins with 1 is 0. */
  private readonly pauses: Record<WebhookPauseReason, number> = { expired: 0, gone: 0, key: 0, damaged: 0 };

  /** @param lagMs returns how long the oldest message was not taken */
  constructor(metrics: PrometheusMetrics, lagMs: () => number) {
    metrics.collect('webhook_deliveries_total', () =>
      [...this.attempts].map(([outcome, value]) => ({ labels: { outcome }, value })),
    );
    metrics.collect('webhook_pauses_total', () =>
      Object.entries(this.pauses).map(([reason, value]) => ({ labels: { reason }, value })),
    );
    metrics.collect('webhook_lag_seconds', () => [{ labels: {}, value: lagMs() / 1_000 }]);
  }

  attempted(outcome: WebhookAttemptOutcome): void {
    this.attempts.set(outcome, (this.attempts.get(outcome) ?? 0) + 1);
  }

  paused(reason: WebhookPauseReason): void {
    this.pauses[reason]++;
  }
}
