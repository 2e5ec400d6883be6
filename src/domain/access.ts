import { CatalogueError, type Fault, fieldFault } from './errors.js';
import type { FieldSet } from './fields.js';
import type { Id, Instant } from './record.js';
import { NAME, textFieldFaults } from './text.js';

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

/** An API key as it is kept. The key itself is shown once to its owner and stored nowhere. */
export interface ApiKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** SHA-256 of the key, in lower-case hexadecimal. */
  readonly digest: string;
  readonly expiresAt?: Instant;
  /** To the minute. Noted beside the versions of the record: it is no change of the key. */
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

/** How many scopes a key has. */
export const SCOPE_COUNT = { min: 1, max: SCOPES.length } as const;

/** The last moment that RFC 3339 can name: its years have four digits. */
const LAST_INSTANT: Instant = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

type Path = readonly (string | number)[];

/** What holds of a key whoever made it; an empty answer means that all does. */
export function apiKeyFaults({ name, scopes }: Pick<ApiKey, 'name' | 'scopes'>): Fault[] {
  return [
    ...textFieldFaults(['name'], name, NAME),
    ...(scopes.length < SCOPE_COUNT.min ? [fieldFault('too_short', ['scopes'])] : []),
    ...(scopes.length > SCOPE_COUNT.max ? [fieldFault('too_long', ['scopes'])] : []),
    ...scopes.flatMap((scope, at) => (isScope(scope) ? [] : [fieldFault('invalid_format', ['scopes', at])])),
    ...repeatedScopes(scopes).map((path) => fieldFault('duplicate_value', ['scopes', ...path])),
  ];
}

/** Where a scope stands that one before it is. Judges values of any type, so that the edge can ask it. */
export function repeatedScopes(scopes: readonly unknown[]): Path[] {
  const seen = new Set<unknown>();
  return scopes.flatMap((scope, at) => {
    if (seen.has(scope)) return [[at]];
    if (typeof scope === 'string' && isScope(scope)) seen.add(scope);
    return [];
  });
}

/** What holds of the end of a key that is made at `now`. */
export function expiryFaults(expiresAt: Instant | undefined, now: Instant): Fault[] {
  const isGood = expiresAt === undefined || (expiresAt > now && expiresAt <= LAST_INSTANT);
  return isGood ? [] : [fieldFault('out_of_range', ['expiresAt'])];
}
