import { AppError, fieldIssue, type Issue } from './errors.js';
import type { FieldsOf, FieldTable } from './fields.js';
import type { Id, Instant } from './record.js';
import { NAME } from './text.js';
import { validator } from './validation.js';

/** The permissions that a credential can have. */
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

/** On whose behalf a request acts. Limits are counted per principal. */
export interface Principal {
  /** Unique among the principals of all kinds of credentials. Never a secret. */
  readonly id: string;
  readonly scopes: readonly Scope[];
}

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
  /** To the minute. Recording it changes neither `version` nor `updatedAt`. */
  lastUsedAt: { kind: 'instant' },
} as const satisfies FieldTable;

export interface ApiKey extends FieldsOf<typeof API_KEY> {}

/** Every broken rule of a key; none if the key is valid. */
export const validateApiKey = validator(API_KEY);

/** The principal id of an API key, and of the access tokens that were issued for it. */
export function keyPrincipalId(id: Id): string {
  return `key:${id}`;
}

/** The id of a principal's API key; undefined for a client of another issuer. */
export function keyIdOf({ id }: Pick<Principal, 'id'>): Id | undefined {
  const [, digits] = /^key:([1-9]\d{0,15})$/.exec(id) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

export function hasExpired({ expiresAt }: Pick<ApiKey, 'expiresAt'>, now: Instant): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/** Whether the key can create and revoke keys at this moment. */
export function administersKeys(key: ApiKey, now: Instant): boolean {
  return key.scopes.includes('keys:admin') && !hasExpired(key, now);
}

/** @param reason shown to the client; must differ from the default only if the token has a valid signature */
export function invalidToken(reason = 'The service does not know this token.'): AppError {
  return new AppError('invalid_token', reason);
}

/** The last moment that RFC 3339 can name: its years have four digits. */
const LAST_INSTANT: Instant = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** The rule for `expiresAt` of a key that is created at `now`. */
export function validateExpiry(expiresAt: Instant | undefined, now: Instant): Issue[] {
  const isValid = expiresAt === undefined || (expiresAt > now && expiresAt <= LAST_INSTANT);
  return isValid ? [] : [fieldIssue('out_of_range', ['expiresAt'])];
}

/** The claims of an access token of this service (RFC 9068 section 2.2). Instants are whole seconds. */
export interface AccessToken {
  /** `iss` and `aud`: the service is both. */
  readonly issuer: string;
  /** `client_id` and `sub`: the API key for which the token was issued. */
  readonly keyId: Id;
  readonly scopes: readonly Scope[];
  readonly issuedAt: Instant;
  readonly expiresAt: Instant;
}

/** How long an access token lives. */
export const ACCESS_TOKEN_MS = 10 * 60_000;

/** How long a verified access token is accepted without another verification, even if its signing key is withdrawn. */
export const ACCESS_TOKEN_FRESH_MS = 5_000;
