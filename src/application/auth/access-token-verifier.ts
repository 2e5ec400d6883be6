import { ACCESS_TOKEN_FRESH_MS, invalidToken, keyPrincipalId } from '../../domain/access.js';
import type { Clock } from '../ports/clock.js';
import type { PublicUrl } from '../ports/public-url.js';
import type { TokenSigner } from '../ports/token-signer.js';
import type { Credential, TokenVerifier, VerifiedCredential } from '../ports/token-verifier.js';
import type { SigningKeys } from './signing-keys.js';

export interface AccessTokenVerifierDependencies {
  readonly keys: Pick<SigningKeys, 'find'>;
  readonly signer: Pick<TokenSigner, 'claimedBy'>;
  readonly publicUrl: PublicUrl;
  readonly clock: Clock;
}

/**
 * Verifies the access tokens that any replica of this service has issued. The API key behind a token is not looked up.
 */
export class AccessTokenVerifier implements TokenVerifier {
  constructor(private readonly deps: AccessTokenVerifierDependencies) {}

  async verify({ token }: Pick<Credential, 'token'>): Promise<VerifiedCredential> {
    const { keys, signer, publicUrl, clock } = this.deps;
    const claim = signer.claimedBy(token);
    const key = claim && publicUrl.isOurs(claim.issuer) ? await keys.find(claim.kid) : undefined;
    if (!claim || !key) throw invalidToken();
    const { keyId, scopes, expiresAt } = await key.verify(token, claim.issuer, clock.now());
    return { id: keyPrincipalId(keyId), scopes, expiresAt, freshMs: ACCESS_TOKEN_FRESH_MS };
  }
}
