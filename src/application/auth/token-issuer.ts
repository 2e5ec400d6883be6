import type { Scope } from '../../domain/access.js';
import { ACCESS_TOKEN_MS } from '../../domain/access-token.js';
import { AppError } from '../../domain/errors.js';
import type { Instant } from '../../domain/record.js';
import type { PublicUrl } from '../../shared/public-url.js';
import type { Clock } from '../ports/clock.js';
import type { AuthenticatedClient } from './authenticator.js';
import type { SigningKeys } from './signing-keys.js';

export interface TokenIssuerDependencies {
  readonly signingKeys: Pick<SigningKeys, 'current'>;
  readonly publicUrl: Pick<PublicUrl, 'url'>;
  readonly clock: Clock;
}

export interface IssuedToken {
  readonly token: string;
  readonly lifetimeSeconds: number;
}

const SECOND = 1_000;

/** Issues access tokens to OAuth clients. */
export class TokenIssuer {
  constructor(private readonly deps: TokenIssuerDependencies) {}

  /**
   * The token expires after 10 minutes, or with the client's API key if that is earlier.
   * @param scopes a subset of the client's scopes
   * @throws AppError `token_expired` if the API key expires within the current second
   */
  async issue(client: AuthenticatedClient, scopes: readonly Scope[]): Promise<IssuedToken> {
    const { publicUrl, clock, signingKeys } = this.deps;
    const { keyId, expiresAt: end = Number.POSITIVE_INFINITY } = client;
    const issuedAt = wholeSeconds(clock.now());
    const expiresAt = wholeSeconds(Math.min(issuedAt + ACCESS_TOKEN_MS, end));
    if (expiresAt <= issuedAt) throw new AppError('token_expired', 'The API key has expired.');
    const key = await signingKeys.current();
    const token = await key.sign({ issuer: publicUrl.url, keyId, scopes, issuedAt, expiresAt });
    return { token, lifetimeSeconds: (expiresAt - issuedAt) / SECOND };
  }
}

function wholeSeconds(at: Instant): Instant {
  return Math.floor(at / SECOND) * SECOND;
}
