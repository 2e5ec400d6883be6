import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';
import type { TokenClaim, TokenKey, TokenSigning } from '../../../application/ports/token-signing.js';
import type { SigningKey } from '../../../domain/signing-key.js';
import { ALGORITHM, RsaTokenKey } from './rsa-token-key.js';
import { readUnverified } from './unverified-jwt.js';

const MODULUS_BITS = 2_048;

/** Access tokens as JWTs (RFC 9068), signed by RSA keys. */
export class JwtSigning implements TokenSigning {
  async makeKey(): Promise<SigningKey> {
    const pair = await generateKeyPair(ALGORITHM, { modulusLength: MODULUS_BITS, extractable: true });
    const jwk = await exportJWK(pair.privateKey);
    const kid = await calculateJwkThumbprint(jwk);
    return { kid, algorithm: ALGORITHM, privateJwk: JSON.stringify(jwk) };
  }

  open(key: SigningKey): Promise<TokenKey> {
    return RsaTokenKey.open(key);
  }

  claimedBy(token: string): TokenClaim | undefined {
    const { header, claims } = readUnverified(token) ?? {};
    const [kid, issuer] = [header?.['kid'], claims?.['iss']];
    return typeof kid === 'string' && typeof issuer === 'string' ? { kid, issuer } : undefined;
  }
}
