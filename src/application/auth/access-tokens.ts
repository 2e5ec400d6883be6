import { LASTING_SCOPES, type Scope } from '../../domain/access.js';
import { ACCESS_TOKEN_MS, CLOCK_TOLERANCE_MS, invalidToken } from '../../domain/access-token.js';
import { API_KEY_FRESH_MS, keyPrincipalId } from '../../domain/api-key.js';
import { AppError } from '../../domain/errors.js';
import type { Instant } from '../../domain/record.js';
import type { PublicUrl } from '../../shared/public-url.js';
import type { Clock } from '../ports/clock.js';
import type { Credential, TokenSigner, TokenVerifier, VerifiedCredential } from '../ports/tokens.js';
import type { ApiKeyVerifier } from './api-keys.js';
import type { AuthenticatedClient } from './authenticator.js';
import type { SigningKeys } from './signing-keys.js';

const SECOND_MS = 1_000;

export interface AccessTokensDependencies {
  readonly signingKeys: Pick<SigningKeys, 'current' | 'find'>;
  readonly apiKeys: Pick<ApiKeyVerifier, 'findValid'>;
  readonly signer: Pick<TokenSigner, 'claimedBy'>;
  readonly publicUrl: Pick<PublicUrl, 'url' | 'isOurs'>;
  readonly clock: Clock;
}

/** The access tokens of this service: those of one replica are good in all. */
export class AccessTokens implements TokenVerifier {
  constructor(private readonly deps: AccessTokensDependencies) {}

  /**
   * Issues a token to an OAuth client. It expires after 10 minutes, or with the client's API key if that is earlier.
   * @param scopes a subset of the client's scopes
   * @throws AppError `token_expired` if the API key expires within the current second
   */
  async issue(
    { keyId, expiresAt: end = Number.POSITIVE_INFINITY }: AuthenticatedClient,
    scopes: readonly Scope[],
  ): Promise<{ readonly token: string; readonly lifetimeSeconds: number }> {
    const { publicUrl, clock, signingKeys } = this.deps;
    const issuedAt = wholeSeconds(clock.now());
    const expiresAt = wholeSeconds(Math.min(issuedAt + ACCESS_TOKEN_MS, end));
    if (expiresAt <= issuedAt) throw new AppError('token_expired', 'The API key has expired.');
    const key = await signingKeys.current();
    const token = await key.sign({ issuer: publicUrl.url, keyId, scopes, issuedAt, expiresAt });
    return { token, lifetimeSeconds: (expiresAt - issuedAt) / SECOND_MS };
  }

  /**
   * Verifies a token that any replica has issued. It ends with the API key behind it: the key is looked up, at every
   * request if the token could make what outlives it.
   */
  async verify({ token }: Pick<Credential, 'token'>): Promise<VerifiedCredential> {
    const { signingKeys, apiKeys, signer, publicUrl, clock } = this.deps;
    const claim = signer.claimedBy(token);
    const key = claim && publicUrl.isOurs(claim.issuer) ? await signingKeys.find(claim.kid) : undefined;
    if (!claim || !key) throw invalidToken();
    const { keyId, scopes, expiresAt: tokenEnd } = await key.verify(token, claim.issuer, clock.now());
    const { fields } = await apiKeys.findValid(keyId, 'The API key behind this access token is revoked.');
    const expiresAt = Math.min(tokenEnd + CLOCK_TOLERANCE_MS, fields.expiresAt ?? Number.POSITIVE_INFINITY);
    const freshMs = LASTING_SCOPES.some((scope) => scopes.includes(scope)) ? 0 : API_KEY_FRESH_MS;
    return { id: keyPrincipalId(keyId), scopes, expiresAt, freshMs };
  }
}

function wholeSeconds(at: Instant): Instant {
  return Math.floor(at / SECOND_MS) * SECOND_MS;
}
