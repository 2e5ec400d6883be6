import type { AccessToken } from '../../domain/access-token.js';
import type { Instant } from '../../domain/record.js';
import type { SigningKey } from '../../domain/signing-key.js';

/** Makes keys for signing, and makes of a kept one what signs. */
export interface TokenSigning {
  makeKey(): Promise<SigningKey>;
  open(key: SigningKey): Promise<TokenKey>;
  /** @returns what a token claims of itself, which proves nothing; undefined where it is no token of this form */
  claimedBy(token: string): TokenClaim | undefined;
}

export interface TokenClaim {
  /** Of the key that signed it. */
  readonly kid: string;
  readonly issuer: string;
}

/** A signing key at work. */
export interface TokenKey {
  readonly kid: string;
  /** What everyone may know of it: a JWK (RFC 7517) without a private member. */
  readonly publicJwk: object;
  sign(token: AccessToken): Promise<string>;
  /**
   * @param issuer whose token, and for whom, it must be
   * @throws CatalogueError `invalid_token` or `token_expired`
   */
  verify(token: string, issuer: string, now: Instant): Promise<AccessToken>;
}
