import type { AccessToken } from '../../domain/access.js';
import type { Instant } from '../../domain/record.js';
import type { SigningKey } from '../../domain/signing-key.js';

/** Creates signing keys, and opens stored ones for use. */
export interface TokenSigner {
  makeKey(): Promise<SigningKey>;
  open(key: SigningKey): Promise<TokenKey>;
  /** @returns the unverified claims of a token about itself; undefined if it is not a token of this form */
  claimedBy(token: string): TokenClaim | undefined;
}

export interface TokenClaim {
  /** Names the key that signed the token. */
  readonly kid: string;
  readonly issuer: string;
}

/** A signing key in use. */
export interface TokenKey {
  readonly kid: string;
  /** A JWK (RFC 7517) without private members. */
  readonly publicJwk: object;
  sign(token: AccessToken): Promise<string>;
  /**
   * @param issuer required as issuer and as audience of the token
   * @throws AppError `invalid_token` or `token_expired`
   */
  verify(token: string, issuer: string, now: Instant): Promise<AccessToken>;
}
