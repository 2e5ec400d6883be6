import { CatalogueError, type Fault, fieldFault } from './errors.js';
import type { FieldsOf, FieldTable } from './fields.js';
import type { Id, Instant } from './record.js';
import { NAME } from './text.js';
import { validator } from './validation.js';

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

/** How an API key looks; whether its checksum holds is for `ApiKeyFormat` to say. */
export const API_KEY_SHAPE = /^pcs_[0-9A-Za-z]{36}$/;

/** An API key as it is stored. The key itself is shown once to its owner and stored nowhere. */
export const API_KEY = {
  name: { kind: 'text', ...NAME, required: true, indexed: true },
  scopes: {
    kind: 'list',
    of: { kind: 'choice', values: SCOPES },
    min: 1,
    max: SCOPES.length,
    distinct: [],
    required: true,
  },
  /** SHA-256 of the key, in lower-case hexadecimal. */
  digest: { kind: 'code', pattern: /^[0-9a-f]{64}$/, required: true, indexed: true, unique: true },
  expiresAt: { kind: 'instant' },
  /** To the minute. Noted beside the versions of the record: it is no change of the key. */
  lastUsedAt: { kind: 'instant' },
} as const satisfies FieldTable;

export interface ApiKey extends FieldsOf<typeof API_KEY> {}

/** Every broken rule of a key; none if the key is valid. */
export const validateApiKey = validator(API_KEY);

/** The principal that a key is, also behind a token that was given for it. */
export function keyPrincipalId(id: Id): string {
  return `key:${id}`;
}

/** The id of the API key that a principal is; undefined for a client of another issuer. */
export function keyIdOf({ id }: Principal): Id | undefined {
  const [, digits] = /^key:([1-9]\d{0,15})$/.exec(id) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Whether the key lets its holder make and revoke keys at this moment. */
export function administersKeys({ scopes, expiresAt }: ApiKey, now: Instant): boolean {
  return scopes.includes('keys:admin') && (expiresAt === undefined || expiresAt > now);
}

/** @param reason what is told to whoever holds a token that its issuer did sign */
export function invalidToken(reason = 'The token is not one that this service knows.'): CatalogueError {
  return new CatalogueError('invalid_token', reason);
}

/** The last moment that RFC 3339 can name: its years have four digits. */
const LAST_INSTANT: Instant = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** What holds of the end of a key that is made at `now`. */
export function expiryFaults(expiresAt: Instant | undefined, now: Instant): Fault[] {
  const isGood = expiresAt === undefined || (expiresAt > now && expiresAt <= LAST_INSTANT);
  return isGood ? [] : [fieldFault('out_of_range', ['expiresAt'])];
}
