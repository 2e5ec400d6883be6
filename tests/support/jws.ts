import {
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  type SignKeyObjectInput,
  sign as signBytes,
} from 'node:crypto';

/** A key pair of an issuer, with which {@link signed} also signs tokens that no library would. */
export interface SigningPair {
  readonly kid: string;
  readonly alg: 'RS256' | 'PS256' | 'ES256' | 'EdDSA';
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

const MAKE = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
};

const OPTIONS: Record<SigningPair['alg'], Omit<SignKeyObjectInput, 'key'>> = {
  RS256: {},
  PS256: { padding: 6, saltLength: 32 },
  ES256: { dsaEncoding: 'ieee-p1363' },
  EdDSA: {},
};

export function makePair(kid: string, alg: SigningPair['alg'] = 'ES256'): SigningPair {
  return { kid, alg, ...MAKE[alg]() };
}

export function publicJwk({ kid, alg, publicKey }: SigningPair): JsonWebKey {
  return { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' };
}

export function encoded(part: unknown): string {
  if (Buffer.isBuffer(part)) return part.toString('base64url');
  return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
}

/**
 * Returns a compact JWS.
 * @param header overrides `alg`, `kid` and `typ` of an access token; undefined removes a member
 */
export function signed(claims: unknown, pair: SigningPair, header: object = {}): string {
  const { alg, kid, privateKey } = pair;
  const input = `${encoded({ alg, kid, typ: 'at+jwt', ...header })}.${encoded(claims)}`;
  const digest = alg === 'EdDSA' ? null : 'sha256';
  const signature = signBytes(digest, Buffer.from(input), { key: privateKey, ...OPTIONS[alg] });
  return `${input}.${signature.toString('base64url')}`;
}
