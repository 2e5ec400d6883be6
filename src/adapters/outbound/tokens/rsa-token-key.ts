import { randomUUID } from 'node:crypto';
import { type CryptoKey, errors, importJWK, type JWK, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import type { TokenKey } from '../../../application/ports/token-signing.js';
import { invalidToken, isScope } from '../../../domain/access.js';
import type { AccessToken } from '../../../domain/access-token.js';
import { CatalogueError } from '../../../domain/errors.js';
import type { Instant } from '../../../domain/record.js';
import type { SigningKey } from '../../../domain/signing-key.js';

/** RFC 9068 section 2.1: the one that everybody can check. */
export const ALGORITHM = 'RS256';
const TYPE = 'at+jwt';
const REQUIRED = ['sub', 'client_id', 'scope', 'iat', 'exp', 'jti'];
const SECOND = 1_000;
/** So far the clock of the replica that gave a token may be ahead of this one's. */
const AHEAD_MS = 60_000;
const KEY_ID = /^[1-9]\d{0,15}$/;

export class RsaTokenKey implements TokenKey {
  private constructor(
    readonly publicJwk: JWK & { readonly kid: string },
    private readonly privateKey: CryptoKey,
    private readonly publicKey: CryptoKey,
  ) {}

  static async open({ kid, algorithm, privateJwk }: SigningKey): Promise<RsaTokenKey> {
    try {
      const { kty = '', n = '', e = '', ...secret }: JWK = JSON.parse(privateJwk);
      const publicJwk = { kty, n, e, kid, alg: algorithm, use: 'sig' };
      const [privateKey, publicKey] = await Promise.all([
        importJWK({ kty, n, e, ...secret }, ALGORITHM),
        importJWK(publicJwk, ALGORITHM),
      ]);
      return new RsaTokenKey(publicJwk, privateKey as CryptoKey, publicKey as CryptoKey);
    } catch {
      // What the parser says may quote the key.
      throw new Error(`The signing key ${kid} is none of ${ALGORITHM}.`);
    }
  }

  get kid(): string {
    return this.publicJwk.kid;
  }

  sign({ issuer, keyId, scopes, issuedAt, expiresAt }: AccessToken): Promise<string> {
    return new SignJWT({ client_id: String(keyId), scope: scopes.join(' ') })
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: this.kid })
      .setIssuer(issuer)
      .setAudience(issuer)
      .setSubject(String(keyId))
      .setIssuedAt(issuedAt / SECOND)
      .setExpirationTime(expiresAt / SECOND)
      .setJti(randomUUID())
      .sign(this.privateKey);
  }

  async verify(token: string, issuer: string, now: Instant): Promise<AccessToken> {
    const options = {
      algorithms: [ALGORITHM],
      typ: TYPE,
      issuer,
      audience: issuer,
      requiredClaims: REQUIRED,
      currentDate: new Date(now),
    };
    const { payload } = await jwtVerify(token, this.publicKey, options).catch(asRefusal);
    return accessToken(payload, issuer, now);
  }
}

function accessToken(
  { sub, iat = 0, exp = 0, ...rest }: JWTPayload,
  issuer: string,
  now: Instant,
): AccessToken {
  const { client_id: clientId, scope } = rest;
  const isOurs = typeof sub === 'string' && KEY_ID.test(sub) && clientId === sub;
  if (!isOurs || typeof scope !== 'string' || iat * SECOND > now + AHEAD_MS) throw invalidToken();
  const scopes = scope.split(' ').filter(isScope);
  return { issuer, keyId: Number(sub), scopes, issuedAt: iat * SECOND, expiresAt: exp * SECOND };
}

function asRefusal(error: unknown): never {
  if (error instanceof errors.JWTExpired) throw new CatalogueError('token_expired', 'The token has expired.');
  if (error instanceof errors.JOSEError) throw invalidToken();
  throw error;
}
