import { type ApiKey, hasExpired } from '../../domain/access.js';
import type { Instant } from '../../domain/record.js';
import { scopesOf, type Webhook } from '../../domain/webhook.js';
import type { Repository } from '../ports/repository.js';

/**
 * Why a webhook must not send: the key that made it is revoked, has expired, or may not read its resources.
 * @returns undefined if it may; a sentence without its full stop
 * @throws AppError `unavailable`
 */
export async function keyProblem(
  keys: Pick<Repository<ApiKey>, 'find'>,
  { createdBy, resources }: Webhook,
  now: Instant,
): Promise<string | undefined> {
  const key = await keys.find(createdBy);
  if (!key) return `The API key ${createdBy} that made the webhook is revoked`;
  if (hasExpired(key.fields, now)) return `The API key ${createdBy} that made the webhook has expired`;
  const missing = scopesOf(resources).filter((scope) => !key.fields.scopes.includes(scope));
  return missing.length === 0
    ? undefined
    : `The API key ${createdBy} that made the webhook lacks the scope ${missing.join(' and ')}`;
}
