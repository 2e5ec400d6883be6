import { decodeJwt, decodeProtectedHeader } from 'jose';

/** What a JWT says, before anybody has verified it. */
export interface UnverifiedJwt {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Real ones are of one or two thousand characters. */
const MAX_LENGTH = 8_192;

/**
 * A signed JWT in its compact form (RFC 7515 section 3.1), spelled in the one way that its bytes have: decoders let pass
 * white space, padding and stray bits, and with them one token would be many.
 */
export function readUnverified(token: string): UnverifiedJwt | undefined {
  if (token.length > MAX_LENGTH) return undefined;
  const parts = token.split('.');
  if (parts.length !== 3 || !parts.every(isBase64url)) return undefined;
  try {
    return { header: { ...decodeProtectedHeader(token) }, claims: decodeJwt(token) };
  } catch {
    return undefined;
  }
}

/** What a JWT says of who made it; undefined where it says nothing, or is none. */
export function issuerOf(token: string): string | undefined {
  const issuer = readUnverified(token)?.claims['iss'];
  return typeof issuer === 'string' ? issuer : undefined;
}

/** RFC 7515 section 2: without padding, and (RFC 4648 section 3.5) without bits that mean nothing. */
function isBase64url(part: string): boolean {
  return part !== '' && Buffer.from(part, 'base64url').toString('base64url') === part;
}
