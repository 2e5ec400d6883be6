import { type ApiKey, hasExpired } from '../../domain/api-key.js';
import type { Instant, Versioned } from '../../domain/record.js';
import { scopesOf, type Webhook } from '../../domain/webhook.js';

/**
 * Why a webhook must not send: the key that made it is revoked, has expired, or may not read its resources.
 * @param key the one that made it; undefined if there is none any more
 * @returns undefined if it may; a sentence without its full stop
 */
export function keyProblem(
  key: Versioned<ApiKey> | undefined,
  { createdBy, resources }: Webhook,
  now: Instant,
): string | undefined {
  if (!key) return `The API key ${createdBy} that made the webhook is revoked`;
  if (hasExpired(key.fields, now)) return `The API key ${createdBy} that made the webhook has expired`;
  const missing = scopesOf(resources).filter((scope) => !key.fields.scopes.includes(scope));
  return missing.length === 0
    ? undefined
    : `The API key ${createdBy} that made the webhook lacks the scope ${missing.join(' and ')}`;
}
