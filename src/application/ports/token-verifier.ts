import type { Principal } from '../../domain/access.js';

export interface TokenVerifier {
  /**
   * @param token what stood after `Bearer`
   * @throws CatalogueError `invalid_token` or `token_expired`
   */
  verify(token: string): Promise<Principal>;
}
