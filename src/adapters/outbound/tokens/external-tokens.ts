import { type CryptoKey, compactVerify } from 'jose';
import type { Clock } from '../../../application/ports/clock.js';
import type { Bearer, TokenVerifier } from '../../../application/ports/token-verifier.js';
import { invalidToken } from '../../../domain/access.js';
import { type Expected, readAccessToken } from './access-token-claims.js';
import type { IssuerKeys, KeyName } from './issuer-keys.js';
import { readUnverified, type UnverifiedJwt } from './unverified-jwt.js';

/** RFC 7518 section 3.1 and RFC 8037: with a key pair, so that whoever can verify cannot sign. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

export interface ExternalTokensDependencies {
  readonly expected: Expected;
  readonly keys: Pick<IssuerKeys, 'find'>;
  readonly clock: Clock;
}

/** Knows the bearer of an access token (RFC 9068) of another issuer. */
export class ExternalTokens implements TokenVerifier {
  constructor(private readonly deps: ExternalTokensDependencies) {}

  async verify(token: string): Promise<Bearer> {
    const { expected, keys, clock } = this.deps;
    const jwt = readUnverified(token);
    const name = jwt && keyNameIn(jwt.header);
    const key = name && (await keys.find(name));
    if (!(key && (await isSigned(token, key)))) throw invalidToken();
    return readAccessToken(jwt, expected, clock.now());
  }
}

/**
 * Of a header all that counts before the signature does; where it says that a key could be found (`jku`, `x5u`, `jwk`,
 * `x5c`) does not. There is no extension (`crit`, and `b64` of RFC 7797) that this service understands.
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
