import { randomUUID } from 'node:crypto';
import {
  type CryptoKey,
  calculateJwkThumbprint,
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  jwtVerify,
  SignJWT,
} from 'jose';
import type { TokenClaim, TokenKey, TokenSigner } from '../../../application/ports/tokens.js';
import { isScope } from '../../../domain/access.js';
import {
  type AccessToken,
  CLOCK_TOLERANCE_MS,
  futureToken,
  invalidToken,
  type SigningKey,
} from '../../../domain/access-token.js';
import { AppError } from '../../../domain/errors.js';
import type { Instant } from '../../../domain/record.js';
import { decodeUnverified } from './jwt.js';

/** The algorithm that every client must support (RFC 9068 section 2.1). */
const ALGORITHM = 'RS256';
const MODULUS_BITS = 2_048;
const TYPE = 'at+jwt';
const REQUIRED_CLAIMS = ['sub', 'client_id', 'scope', 'iat', 'exp', 'jti'];
const SECOND_MS = 1_000;
const KEY_ID = /^[1-9]\d{0,15}$/;

/** Signs access tokens as JWTs (RFC 9068) with RSA keys. */
export class Rs256TokenSigner implements TokenSigner {
  async makeKey(): Promise<SigningKey> {
    const pair = await generateKeyPair(ALGORITHM, { modulusLength: MODULUS_BITS, extractable: true });
    const jwk = await exportJWK(pair.privateKey);
    const kid = await calculateJwkThumbprint(jwk);
    return { kid, algorithm: ALGORITHM, privateJwk: JSON.stringify(jwk) };
  }

  async open({ kid, algorithm, privateJwk }: SigningKey): Promise<TokenKey> {
    try {
      const { kty = '', n = '', e = '', ...secret }: JWK = JSON.parse(privateJwk);
      const publicJwk = { kty, n, e, kid, alg: algorithm, use: 'sig' };
      const [privateKey, publicKey] = await Promise.all([
        importJWK({ kty, n, e, ...secret }, ALGORITHM),
        importJWK(publicJwk, ALGORITHM),
      ]);
      return new Rs256Key(publicJwk, privateKey as CryptoKey, publicKey as CryptoKey);
    } catch {
      // Without the cause: the parser's message may quote the key.
      throw new Error(`The signing key ${kid} is not a valid ${ALGORITHM} key.`);
    }
  }

  claimedBy(token: string): TokenClaim | undefined {
    const { header, claims } = decodeUnverified(token) ?? {};
    const [kid, issuer] = [header?.['kid'], claims?.['iss']];
    return typeof kid === 'string' && typeof issuer === 'string' ? { kid, issuer } : undefined;
  }
}

class Rs256Key implements TokenKey {
  constructor(
    readonly publicJwk: JWK & { readonly kid: string },
    private readonly privateKey: CryptoKey,
    private readonly publicKey: CryptoKey,
  ) {}

  get kid(): string {
    return this.publicJwk.kid;
  }

  sign({ issuer, keyId, scopes, issuedAt, expiresAt }: AccessToken): Promise<string> {
    return new SignJWT({ client_id: String(keyId), scope: scopes.join(' ') })
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: this.kid })
      .setIssuer(issuer)
      .setAudience(issuer)
      .setSubject(String(keyId))
      .setIssuedAt(issuedAt / SECOND_MS)
      .setExpirationTime(expiresAt / SECOND_MS)
      .setJti(randomUUID())
      .sign(this.privateKey);
  }

  async verify(token: string, issuer: string, now: Instant): Promise<AccessToken> {
    const options = {
      algorithms: [ALGORITHM],
      typ: TYPE,
      issuer,
      audience: issuer,
      requiredClaims: REQUIRED_CLAIMS,
      currentDate: new Date(now),
      clockTolerance: CLOCK_TOLERANCE_MS / SECOND_MS,
    };
    const { payload } = await jwtVerify(token, this.publicKey, options).catch(throwDomainError);
    const { sub, iat = 0, exp = 0, ...rest } = payload;
    const { client_id: clientId, scope } = rest;
    const isOurs = typeof sub === 'string' && KEY_ID.test(sub) && clientId === sub;
    if (!isOurs || typeof scope !== 'string') throw invalidToken();
    if (iat * SECOND_MS > now + CLOCK_TOLERANCE_MS) throw futureToken('iat');
    const scopes = scope.split(' ').filter(isScope);
    return { issuer, keyId: Number(sub), scopes, issuedAt: iat * SECOND_MS, expiresAt: exp * SECOND_MS };
  }
}

function throwDomainError(error: unknown): never {
  if (error instanceof errors.JWTExpired) throw new AppError('token_expired', 'The token has expired.');
  const isEarly = error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf';
  if (isEarly && error.reason === 'check_failed') throw futureToken('nbf');
  if (error instanceof errors.JOSEError) throw invalidToken();
  throw error;
}
