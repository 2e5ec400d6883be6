import type { FieldSet } from './fields.js';

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
