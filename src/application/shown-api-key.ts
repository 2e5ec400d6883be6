import type { ApiKey } from '../domain/access.js';
import type { Instant, Versioned } from '../domain/record.js';

/** All of a key that is ever shown, over HTTP and on the command line: neither the key nor its digest is among it. */
export function shownApiKey({ id, createdAt, fields }: Versioned<ApiKey>) {
  const { name, scopes, expiresAt, lastUsedAt } = fields;
  return {
    id,
    name,
    scopes,
    expiresAt: time(expiresAt),
    createdAt: time(createdAt),
    lastUsedAt: time(lastUsedAt),
  };
}

function time(at: Instant | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}
