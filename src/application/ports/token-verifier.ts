import type { Principal } from '../../domain/access.js';

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
