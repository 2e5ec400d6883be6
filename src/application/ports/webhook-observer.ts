/** `accepted`: 2xx. `rejected`: another status. `failed`: no response. */
export type WebhookAttemptOutcome = 'accepted' | 'rejected' | 'failed';

/**
 * `expired`: the newest message was not taken for so long that changes may be missing. `gone`: the receiver responded
 * with 410. `key`: the API key of the webhook has ended, or may not read its resources. `damaged`: the webhook is stored
 * with values that this release does not know.
 */
export type WebhookPauseReason = 'expired' | 'gone' | 'key' | 'damaged';

/** Learns what happens to webhooks. */
export interface WebhookObserver {
  attempted(outcome: WebhookAttemptOutcome): void;
  paused(reason: WebhookPauseReason): void;
}
