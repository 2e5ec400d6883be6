import { LASTING_SCOPES } from '../../domain/access.js';
import { CLOCK_TOLERANCE_MS, invalidToken } from '../../domain/access-token.js';
import { API_KEY_FRESH_MS, keyPrincipalId } from '../../domain/api-key.js';
import type { PublicUrl } from '../../shared/public-url.js';
import type { Clock } from '../ports/clock.js';
import type { Credential, TokenSigner, TokenVerifier, VerifiedCredential } from '../ports/tokens.js';
import type { ApiKeyVerifier } from './api-key-verifier.js';
import type { SigningKeys } from './signing-keys.js';

export interface AccessTokenVerifierDependencies {
  readonly keys: Pick<SigningKeys, 'find'>;
  readonly apiKeys: Pick<ApiKeyVerifier, 'findValid'>;
  readonly signer: Pick<TokenSigner, 'claimedBy'>;
  readonly publicUrl: Pick<PublicUrl, 'isOurs'>;
  readonly clock: Clock;
}

/**
 * Verifies the access tokens that any replica of this service has issued. A token ends with the API key behind it: the
 * key is looked up, at every request if the token could make what outlives it.
 */
export class AccessTokenVerifier implements TokenVerifier {
  constructor(private readonly deps: AccessTokenVerifierDependencies) {}

  async verify({ token }: Pick<Credential, 'token'>): Promise<VerifiedCredential> {
    const { keys, apiKeys, signer, publicUrl, clock } = this.deps;
    const claim = signer.claimedBy(token);
    const key = claim && publicUrl.isOurs(claim.issuer) ? await keys.find(claim.kid) : undefined;
    if (!claim || !key) throw invalidToken();
    const { keyId, scopes, expiresAt: tokenEnd } = await key.verify(token, claim.issuer, clock.now());
    const { fields } = await apiKeys.findValid(keyId, 'The API key behind this access token is revoked.');
    const expiresAt = Math.min(tokenEnd + CLOCK_TOLERANCE_MS, fields.expiresAt ?? Number.POSITIVE_INFINITY);
    const freshMs = LASTING_SCOPES.some((scope) => scopes.includes(scope)) ? 0 : API_KEY_FRESH_MS;
    return { id: keyPrincipalId(keyId), scopes, expiresAt, freshMs };
  }
}
