import { invalidToken, keyPrincipalId, type Principal } from '../domain/access.js';
import type { AccessToken } from '../domain/access-token.js';
import type { Clock } from './ports/clock.js';
import type { PublicAddress } from './ports/public-address.js';
import type { TokenSigning } from './ports/token-signing.js';
import type { TokenVerifier } from './ports/token-verifier.js';
import type { SigningKeys } from './signing-keys.js';

export interface OwnTokenDependencies {
  readonly keys: Pick<SigningKeys, 'find'>;
  readonly signing: Pick<TokenSigning, 'claimedBy'>;
  readonly address: PublicAddress;
  readonly clock: Clock;
}

/** Knows the tokens that this service, in any of its replicas, has given. The API key behind one is not looked up. */
export class OwnTokenVerifier implements TokenVerifier {
  constructor(private readonly deps: OwnTokenDependencies) {}

  async verify(token: string): Promise<Principal & Pick<AccessToken, 'expiresAt'>> {
    const { keys, signing, address, clock } = this.deps;
    const claim = signing.claimedBy(token);
    const key = claim && address.isOurs(claim.issuer) ? await keys.find(claim.kid) : undefined;
    if (!claim || !key) throw invalidToken();
    const { keyId, scopes, expiresAt } = await key.verify(token, claim.issuer, clock.now());
    return { id: keyPrincipalId(keyId), scopes, expiresAt };
  }
}
