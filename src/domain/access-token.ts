import type { Scope } from './access.js';
import type { Id, Instant } from './record.js';

/** What an access token of this service says (RFC 9068 section 2.2). Instants are whole seconds. */
export interface AccessToken {
  /** Under which name it was given, and for whom it is meant: the service is both (`iss`, `aud`). */
  readonly issuer: string;
  /** The API key for which it was given (`client_id`, `sub`). */
  readonly keyId: Id;
  readonly scopes: readonly Scope[];
  readonly issuedAt: Instant;
  readonly expiresAt: Instant;
}

export const ACCESS_TOKEN_MS = 10 * 60_000;
