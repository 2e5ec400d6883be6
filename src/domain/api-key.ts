import { type Principal, SCOPES } from './access.js';
import { invalidToken } from './access-token.js';
import { AppError, fieldIssue, type Issue } from './errors.js';
import type { FieldsOf, FieldTable } from './fields.js';
import { type Id, type Instant, MAX_ID, type Versioned } from './record.js';
import { NAME, ONE_LINE, ONE_LINE_CHARACTERS } from './text.js';

/** An API key as it is stored. The key itself is shown once to its owner and stored nowhere. */
export const API_KEY = {
  name: {
    description: 'What uses the key',
    kind: 'text',
    ...NAME,
    example: 'web shop',
    required: true,
    indexed: true,
  },
  scopes: {
    description: 'What the key allows',
    kind: 'list',
    of: { description: 'A permission', kind: 'choice', values: SCOPES },
    min: 1,
    max: SCOPES.length,
    distinct: [],
    required: true,
  },
  digest: {
    description: 'The SHA-256 of the key',
    kind: 'code',
    pattern: /^[0-9a-f]{64}$/,
    form: '64 lower-case hexadecimal digits',
    example: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    required: true,
    indexed: true,
    unique: true,
  },
  expiresAt: {
    description: 'When the key ends; a key without it never does',
    kind: 'instant',
    limits: 'in the future, until the end of the year 9999',
    example: '2099-01-31T00:00:00.000Z',
  },
  /** Recording it changes neither `version` nor `updatedAt`. */
  lastUsedAt: {
    description: 'When the key was last used, to the minute',
    kind: 'instant',
    example: '2026-01-31T12:00:00.000Z',
  },
  createdBy: {
    description:
      'The id of the key that made this key, also by an access token; absent for the first key and those of the command line',
    kind: 'integer',
    min: 1,
    max: MAX_ID,
    example: 1,
    indexed: true,
  },
  createdBySubject: {
    description: "The subject of another issuer's token that made this key, which then expires within 90 days",
    kind: 'text',
    min: 1,
    max: 16_384,
    allowed: ONE_LINE,
    characters: ONE_LINE_CHARACTERS,
    example: 'ann@example.com',
  },
} as const satisfies FieldTable;

export interface ApiKey extends FieldsOf<typeof API_KEY> {}

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

/**
 * The key, unless it is revoked or has expired.
 * @param reason shown to the client if the key is revoked; see {@link invalidToken}
 * @throws AppError `invalid_token`, `token_expired`
 */
export function validKey(key: Versioned<ApiKey> | undefined, now: Instant, reason?: string): Versioned<ApiKey> {
  if (!key) throw invalidToken(reason);
  if (hasExpired(key.fields, now)) throw new AppError('token_expired', 'The API key has expired.');
  return key;
}

/** Whether the key can create and revoke keys at this moment. */
export function administersKeys(key: ApiKey, now: Instant): boolean {
  return key.scopes.includes('keys:admin') && !hasExpired(key, now);
}

/** The last moment that RFC 3339 can name: its years have four digits. */
const LAST_INSTANT: Instant = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * The rule for `expiresAt` of a key that is created at `now`.
 * @param latest the last moment at which a key of this maker may expire
 */
export function validateExpiry(expiresAt: Instant | undefined, now: Instant, latest = LAST_INSTANT): Issue[] {
  if (expiresAt === undefined || (expiresAt > now && expiresAt <= latest)) return [];
  const rule = `must be a time in the future, at most ${new Date(latest).toISOString()}`;
  return [fieldIssue('out_of_range', ['expiresAt'], rule)];
}

/**
 * How long an API key, and an access token that was issued for it, is accepted without another look-up of the key. A
 * revoked one is promised to be refused within 5 seconds, by every process.
 */
export const API_KEY_FRESH_MS = 2_000;

/** The longest life of an API key that a token of another issuer made. */
export const FOREIGN_KEY_MS = 90 * 24 * 60 * 60_000;
