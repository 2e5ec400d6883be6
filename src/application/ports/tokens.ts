import type { Principal } from '../../domain/access.js';
import type { AccessToken, SigningKey } from '../../domain/access-token.js';
import type { Instant } from '../../domain/record.js';

/** A token as a client sent it. */
export interface Credential {
  /** The text after `Bearer`, or the secret of an OAuth client. */
  readonly token: string;
  /** SHA-256 of the token, in lower-case hexadecimal. Computed once for each request. */
  readonly digest: string;
}

/** The principal of a credential, and how long that result holds. */
export interface VerifiedCredential extends Principal {
  /** How long the result may be reused without another verification. */
  readonly freshMs: number;
}

export interface TokenVerifier {
  /** @throws AppError `invalid_token` or `token_expired`; `unavailable` if the token cannot be verified now */
  verify(credential: Credential): Promise<VerifiedCredential>;
}

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
