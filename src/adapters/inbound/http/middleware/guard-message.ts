import { CatalogueError } from '../../../../domain/errors.js';
import type { Context, Middleware } from '../context.js';
import { invalidHeader } from '../faults.js';

export const MAX_TARGET_BYTES = 8 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/** Fields that two readers might take differently when they occur twice. */
const SINGLE = ['host', 'authorization'];

/** Refuses messages that are too large, or that two programs could read in two ways (RFC 9112 sections 3.2 and 11). */
export const guardMessage: Middleware = (ctx, next) => {
  checkTarget(ctx.url);
  const seen = readNames(ctx);
  if (ctx.req.httpVersion === '1.1' && !seen.has('host'))
    throw invalidHeader('Host', 'required', 'Host is missing.');
  return next();
};

/** @throws CatalogueError `uri_too_long` where the address is one that is refused */
export function checkTarget(target: string): void {
  if (target.length <= MAX_TARGET_BYTES) return;
  throw new CatalogueError(
    'uri_too_long',
    `The address, or one that the answer would lead to, is longer than ${MAX_TARGET_BYTES} bytes.`,
  );
}

function readNames(ctx: Context): Set<string> {
  const { rawHeaders } = ctx.req;
  const seen = new Set<string>();
  let bytes = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? '';
    // ": " between and CR LF behind
    bytes += name.length + (rawHeaders[i + 1]?.length ?? 0) + 4;
    if (seen.has(name) && SINGLE.includes(name)) {
      throw invalidHeader(name, 'duplicate_value', `The header ${name} is given more than once.`);
    }
    seen.add(name);
  }
  if (bytes > MAX_HEADER_BYTES) {
    throw new CatalogueError('headers_too_large', `The headers are larger than ${MAX_HEADER_BYTES} bytes.`);
  }
  return seen;
}
