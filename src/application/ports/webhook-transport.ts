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
 * Connects to receivers whose URLs clients chose, and to no address that they must not reach: each address of the host is
 * global unicast, or the operator allows it.
 */
export interface WebhookTransport {
  /**
   * Whether each address of the URL's host is allowed now. False also if there is none. Takes at most 10 seconds.
   * @param client the principal who asks
   * @throws AppError `unavailable` if too many names are looked up
   */
  allows(url: string, client: string): Promise<boolean>;
  /**
   * Sends a POST to an allowed address, within 10 seconds, redirects not followed. Never throws.
   * @param signal ends it early
   */
  post(request: WebhookRequest, signal?: AbortSignal): Promise<WebhookOutcome>;
}
