import type { Scope } from './access.js';
import { AppError } from './errors.js';
import type { FieldSpecs } from './fields.js';
import type { Id, Instant, Versioned } from './record.js';

/** @param reason shown to the client; must differ from the default only if the token has a valid signature */
export function invalidToken(reason = 'The service does not know this token.'): AppError {
  return new AppError('invalid_token', reason);
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

/** How far the clock of an issuer may be from ours, for `exp`, `nbf` and `iat` of every token. */
export const CLOCK_TOLERANCE_MS = 60_000;

/** The refusal of a token whose `nbf` or `iat` is later than the tolerance allows. */
export function futureToken(claim: 'nbf' | 'iat'): AppError {
  return invalidToken(
    `The ${claim} of this access token is over 60 seconds in the future: compare the clocks of its issuer and this service.`,
  );
}

/**
 * How long an access token of another issuer is accepted without another verification, even if its signing key is
 * withdrawn.
 */
export const ACCESS_TOKEN_FRESH_MS = 5_000;

/** How long a request of another issuer's token may go on after the token has expired, while the issuer's key is good. */
export const FOREIGN_REQUEST_MS = 24 * 60 * 60_000;

/** A key that signs the access tokens of this service. All replicas on a store share the keys. */
export interface SigningKey {
  /** The key's name in the header of a token (RFC 7517 section 4.5). */
  readonly kid: string;
  /** A name from RFC 7518 section 3.1. */
  readonly algorithm: string;
  /** The private key as a JWK (RFC 7517), in JSON. A secret that appears in no response and no log. */
  readonly privateJwk: string;
}

export const SIGNING_KEY_FIELDS = {
  kid: { type: 'text', required: true, unique: true },
} satisfies FieldSpecs;

/**
 * The phase of a key's life. `next` is published and does not sign yet. `signing` signs. `past` no longer signs, and
 * its tokens are still accepted. `retired` is no longer accepted.
 */
export type SigningKeyPhase = 'next' | 'signing' | 'past' | 'retired';

/** How long a new key is published before it signs. By then every cache of the published keys has expired. */
export const PUBLISHED_BEFORE_MS = 10 * 60_000;

/** How long the previous key stays valid after rotation: twice a token's lifetime. */
export const TRUSTED_AFTER_MS = 20 * 60_000;

export interface PhasedKey {
  readonly key: Versioned<SigningKey>;
  readonly phase: SigningKeyPhase;
}

/**
 * Returns each key with its phase, the oldest first. One key signs: the newest that was published long enough, or else
 * the oldest.
 */
export function phasesOf(keys: readonly Versioned<SigningKey>[], now: Instant): PhasedKey[] {
  const byAge = keys.toSorted((a, b) => a.createdAt - b.createdAt || a.id - b.id);
  const signing = Math.max(
    byAge.findLastIndex((key) => signsFrom(key) <= now),
    0,
  );
  return byAge.map((key, at) => {
    if (at === signing) return { key, phase: 'signing' };
    if (at > signing) return { key, phase: 'next' };
    const successor = byAge[at + 1] ?? key;
    return { key, phase: now < signsFrom(successor) + TRUSTED_AFTER_MS ? 'past' : 'retired' };
  });
}

export function signsFrom({ createdAt }: Versioned<SigningKey>): Instant {
  return createdAt + PUBLISHED_BEFORE_MS;
}
