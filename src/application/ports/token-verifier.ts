import type { Principal } from '../../domain/access.js';
import type { Instant } from '../../domain/record.js';

/** Who showed a token. */
export interface Bearer extends Principal {
  /** When the token itself ends. One that says so may be believed for some seconds without being verified again. */
  readonly expiresAt?: Instant;
}

export interface TokenVerifier {
  /**
   * @param token what stood after `Bearer`
   * @throws CatalogueError `invalid_token` or `token_expired`; `unavailable` where that cannot be found out now
   */
  verify(token: string): Promise<Bearer>;
}
