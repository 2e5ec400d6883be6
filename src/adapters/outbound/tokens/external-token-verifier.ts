import { type CryptoKey, compactVerify } from 'jose';
import type { Clock } from '../../../application/ports/clock.js';
import type { Credential, TokenVerifier, VerifiedCredential } from '../../../application/ports/tokens.js';
import { ACCESS_TOKEN_FRESH_MS, invalidToken } from '../../../domain/access-token.js';
import { type Expected, readAccessToken } from './access-token-claims.js';
import { decodeUnverified, type UnverifiedJwt } from './decode-jwt.js';
import type { JwksCache, KeyName } from './jwks-cache.js';

/** The asymmetric algorithms of RFC 7518 section 3.1 and RFC 8037: who can verify with them cannot sign. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

export interface ExternalTokenDependencies {
  readonly expected: Expected;
  readonly keys: Pick<JwksCache, 'find'>;
  readonly clock: Clock;
}

/** Verifies access tokens (RFC 9068) of another issuer. */
export class ExternalTokenVerifier implements TokenVerifier {
  constructor(private readonly deps: ExternalTokenDependencies) {}

  async verify({ token }: Pick<Credential, 'token'>): Promise<VerifiedCredential> {
    const { expected, keys, clock } = this.deps;
    const jwt = decodeUnverified(token);
    const name = jwt && keyNameIn(jwt.header);
    const key = name && (await keys.find(name));
    if (!(key && (await isSigned(token, key)))) throw invalidToken();
    return { ...readAccessToken(jwt, expected, clock.now()), freshMs: ACCESS_TOKEN_FRESH_MS };
  }
}

/**
 * Reads `alg` and `kid`, the only header fields that count before the signature is verified. Fields that name a place
 * to find a key (`jku`, `x5u`, `jwk`, `x5c`) are ignored. No extension (`crit`, or `b64` of RFC 7797) is supported.
 */
function keyNameIn({ alg, kid, crit, b64 }: UnverifiedJwt['header']): KeyName | undefined {
  if (typeof alg !== 'string' || !ALGORITHMS.includes(alg)) return undefined;
  const isPlain = crit === undefined && b64 === undefined;
  return typeof kid === 'string' && isPlain ? { alg, kid } : undefined;
}

async function isSigned(token: string, key: CryptoKey): Promise<boolean> {
  try {
    await compactVerify(token, key, { algorithms: ALGORITHMS });
    return true;
  } catch {
    return false;
  }
}
