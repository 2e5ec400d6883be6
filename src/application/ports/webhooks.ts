import type { DeliveryAttempt } from '../../domain/webhook.js';

/** A message, ready to be sent. */
export interface WebhookRequest {
  /** Whose message it is: a principal. What one holds is limited. */
  readonly client: string;
  /** An https URL that a client chose. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The status of the response, or why there is none: fixed words without an address, a secret or a part of the URL. */
export type WebhookOutcome = Pick<DeliveryAttempt, 'status' | 'error'>;

/**
 * Why no message can go to a URL. `port`: it is not from 1 to 65535. `unknown`: the host has no address. `address`: the
 * service must not connect to an address of the host.
 */
export type TargetProblem = 'port' | 'unknown' | 'address';

/**
 * Connects to receivers whose URLs clients chose, and to no address that they must not reach: each address of the host is
 * global unicast, or the operator allows it.
 */
export interface WebhookTransport {
  /**
   * Returns why no message could go to an https URL now; undefined if one could. Takes at most 10 seconds.
   * @param client the principal who asks
   * @throws AppError `unavailable` if too many names are looked up
   */
  problemOf(url: string, client: string): Promise<TargetProblem | undefined>;
  /**
   * Sends a POST to an allowed address, redirects not followed. Takes at most 20 seconds, 10 of them to find the host.
   * @param signal ends it early
   * @throws AppError `unavailable` if the service itself has no look-up or connection left, which is not the receiver's
   *   failure
   */
  post(request: WebhookRequest, signal?: AbortSignal): Promise<WebhookOutcome>;
}

/** `accepted`: 2xx. `rejected`: another status. `failed`: no response. */
export type WebhookAttemptOutcome = 'accepted' | 'rejected' | 'failed';

/**
 * `expired`: the newest message was not taken for so long that changes may be missing. `gone`: the receiver responded
 * with 410. `key`: the API key of the webhook has ended, or may not read its resources. `damaged`: the webhook is stored
 * with values that this release does not know.
 */
export type WebhookPauseReason = 'expired' | 'gone' | 'key' | 'damaged';
