import { CatalogueError } from './errors.js';
import type { FieldSet } from './fields.js';
import type { Id, Instant } from './record.js';
import { NAME, textFaults } from './text.js';

/** What a credential lets its holder do. */
export const SCOPES = [
  'products:read',
  'products:write',
  'users:read',
  'users:write',
  'orders:read',
  'orders:write',
  'keys:admin',
] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

/** Whoever a request acts for. Limits belong to it. */
export interface Principal {
  /** Unique among all principals, whatever credential they showed. Never a secret. */
  readonly id: string;
  readonly scopes: readonly Scope[];
}

/** An API key as it is kept. The key itself is shown once to its owner and stored nowhere. */
export interface ApiKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** SHA-256 of the key, in lower-case hexadecimal. */
  readonly digest: string;
  readonly expiresAt?: Instant;
  /** To the minute. */
  readonly lastUsedAt?: Instant;
}

export const API_KEY_FIELDS = {
  name: { type: 'text', required: true },
  digest: { type: 'text', required: true, unique: true },
} satisfies FieldSet;

/** The principal that a key is, also behind a token that was given for it. */
export function keyPrincipalId(id: Id): string {
  return `key:${id}`;
}

/** @param reason what is told to whoever holds a token that its issuer did sign */
export function invalidToken(reason = 'The token is not one that this service knows.'): CatalogueError {
  return new CatalogueError('invalid_token', reason);
}

/** @throws CatalogueError `validation_failed` */
export function checkApiKey(key: Pick<ApiKey, 'name' | 'scopes'>): void {
  if (textFaults(key.name, NAME).length > 0) {
    throw new CatalogueError('validation_failed', 'A key needs a name of 1 to 200 characters.');
  }
  if (key.scopes.length === 0 || new Set(key.scopes).size !== key.scopes.length) {
    throw new CatalogueError('validation_failed', 'A key needs one scope at least, and each only once.');
  }
}
