import type { FieldSet } from './fields.js';
import type { Instant, Versioned } from './record.js';

/** A key by which this service signs the access tokens that it gives. All replicas on a store share them. */
export interface SigningKey {
  /** Names the key in the header of a token (RFC 7517 section 4.5). */
  readonly kid: string;
  /** As RFC 7518 section 3.1 calls it. */
  readonly algorithm: string;
  /** A private key as a JWK (RFC 7517), in JSON. A secret: it is in no answer and no log. */
  readonly privateJwk: string;
}

export const SIGNING_KEY_FIELDS = {
  kid: { type: 'text', required: true, unique: true },
} satisfies FieldSet;

/**
 * What a key is for. The next one is published and signs nothing yet. A past one signs nothing more, and what it signed
 * is still good. A retired one is worth nothing.
 */
export type SigningKeyPhase = 'next' | 'signing' | 'past' | 'retired';

/** A new key is only published for so long: everyone who keeps the published keys has read them again by then. */
export const PUBLISHED_BEFORE_MS = 10 * 60_000;

/** A key is trusted so long after the next one began to sign: twice as long as a token lives. */
export const TRUSTED_AFTER_MS = 20 * 60_000;

export interface PhasedKey {
  readonly key: Versioned<SigningKey>;
  readonly phase: SigningKeyPhase;
}

/** One key signs, wherever there is one: the newest that was published long enough, else the oldest. */
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
