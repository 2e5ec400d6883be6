import { decodeJwt, decodeProtectedHeader } from 'jose';

/** A decoded JWT. Nothing in it is verified. */
export interface UnverifiedJwt {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** In characters. Real tokens have one or two thousand. */
const MAX_LENGTH = 8_192;

/**
 * Decodes a signed JWT in compact form (RFC 7515 section 3.1). Accepts only the canonical encoding: decoders ignore
 * white space, padding and stray bits, so that one token could otherwise be written in many ways.
 * @returns undefined if it is not a JWT
 */
export function decodeUnverified(token: string): UnverifiedJwt | undefined {
  if (token.length > MAX_LENGTH) return undefined;
  const parts = token.split('.');
  if (parts.length !== 3 || !parts.every(isBase64url)) return undefined;
  try {
    return { header: { ...decodeProtectedHeader(token) }, claims: decodeJwt(token) };
  } catch {
    return undefined;
  }
}

/** The `iss` of a JWT, not verified; undefined if the token is no JWT or has none. */
export function issuerOf(token: string): string | undefined {
  const issuer = decodeUnverified(token)?.claims['iss'];
  return typeof issuer === 'string' ? issuer : undefined;
}

/** RFC 7515 section 2: without padding, and without stray bits (RFC 4648 section 3.5). */
function isBase64url(part: string): boolean {
  return part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part;
}
