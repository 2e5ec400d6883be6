import { createHmac } from 'node:crypto';
import { keyPrincipalId } from '../../domain/api-key.js';
import type { Instant, Versioned } from '../../domain/record.js';
import {
  type DeliveryAttempt,
  type PendingMessage,
  signingSecrets,
  type Webhook,
} from '../../domain/webhook.js';
import type { Clock } from '../ports/clock.js';
import type { WebhookTransport } from '../ports/webhooks.js';

export type Message = Pick<PendingMessage, 'id' | 'type' | 'changes' | 'body'>;

export interface DeliveryDependencies {
  readonly transport: Pick<WebhookTransport, 'post'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Sends a message to the receiver of a webhook once, as Standard Webhooks 1.0.0 describes. */
export async function deliver(
  { transport, clock }: DeliveryDependencies,
  { fields }: Versioned<Webhook>,
  { id, type, changes, body }: Message,
  signal?: AbortSignal,
): Promise<DeliveryAttempt> {
  const at = clock.now();
  const timestamp = Math.floor(at / 1_000);
  const signatures = signingSecrets(fields, at).map((secret) => signatureOf(secret, id, timestamp, body));
  const headers = {
    'Content-Type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
  return {
    at,
    type,
    changes,
    ...(await transport.post(
      { client: keyPrincipalId(fields.createdBy), url: fields.url, headers, body },
      signal,
    )),
  };
}

/** The body of a message, as Standard Webhooks 1.0.0 recommends it. */
export function bodyOf(type: string, at: Instant, data: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
}

/** The HMAC-SHA256 with the bytes of the secret. Neither the id nor the time has a full stop. */
function signatureOf(secret: string, id: string, timestamp: number, body: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}
