import { type ApiKey, invalidToken, keyPrincipalId, type Scope } from '../domain/access.js';
import { ACCESS_TOKEN_MS } from '../domain/access-token.js';
import { CatalogueError } from '../domain/errors.js';
import type { Instant, Versioned } from '../domain/record.js';
import type { Clock } from './ports/clock.js';
import type { PublicAddress } from './ports/public-address.js';
import type { Repository } from './ports/repository.js';
import type { TokenVerifier } from './ports/token-verifier.js';
import type { SigningKeys } from './signing-keys.js';

export interface TokenIssuerDependencies {
  /** Knows API keys, and nothing else. */
  readonly verifier: TokenVerifier;
  readonly apiKeys: Pick<Repository<ApiKey>, 'find'>;
  readonly signingKeys: Pick<SigningKeys, 'current'>;
  readonly address: PublicAddress;
  readonly clock: Clock;
}

export interface IssuedToken {
  readonly token: string;
  readonly lifetimeSeconds: number;
}

const SECOND = 1_000;
/** As it is written in addresses: 07 is none. */
const ID = /^[1-9]\d{0,15}$/;

/** Gives access tokens to clients, which are API keys: the id of the key is the client's, and the key is its secret. */
export class TokenIssuer {
  constructor(private readonly deps: TokenIssuerDependencies) {}

  /** @throws CatalogueError `invalid_token` or `token_expired` */
  async client(id: string, secret: string): Promise<Versioned<ApiKey>> {
    const principal = await this.deps.verifier.verify(secret);
    const keyId = ID.test(id) ? Number(id) : 0;
    const isItsOwn = principal.id === keyPrincipalId(keyId);
    const key = isItsOwn ? await this.deps.apiKeys.find(keyId) : undefined;
    if (!key) throw invalidToken('The secret is not that of this client.');
    return key;
  }

  /**
   * @param scopes that the client has
   * @throws CatalogueError `token_expired` where the client's own time is over
   */
  async issue(client: Versioned<ApiKey>, scopes: readonly Scope[]): Promise<IssuedToken> {
    const { address, clock, signingKeys } = this.deps;
    const issuedAt = wholeSeconds(clock.now());
    const { expiresAt: end = Number.POSITIVE_INFINITY } = client.fields;
    const expiresAt = wholeSeconds(Math.min(issuedAt + ACCESS_TOKEN_MS, end));
    if (expiresAt <= issuedAt) throw new CatalogueError('token_expired', 'The API key has expired.');
    const key = await signingKeys.current();
    const token = await key.sign({ issuer: address.url, keyId: client.id, scopes, issuedAt, expiresAt });
    return { token, lifetimeSeconds: (expiresAt - issuedAt) / SECOND };
  }
}

function wholeSeconds(at: Instant): Instant {
  return Math.floor(at / SECOND) * SECOND;
}
