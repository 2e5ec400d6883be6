import { pipeline, Readable } from 'node:stream';
import { andThen } from '../../../../shared/maybe-promise.js';
import { CODECS, type Codec, type Coding, preferredCoding } from '../core/compression-codecs.js';
import type { Context, Middleware } from '../core/context.js';
import { NDJSON } from '../core/media-types.js';

/** A body up to this size fits into one packet uncompressed. */
const MAX_UNCOMPRESSED_BYTES = 1_024;

/**
 * Compresses responses that vary by `Accept-Encoding`, and NDJSON. A response with a strong tag is not compressed,
 * because the tag identifies its exact bytes (RFC 9110 section 8.8.3). Errors are not compressed, because they pass
 * it as exceptions. By hand: koa-compress does not pass on stream errors, so a failing export would hang
 * instead of closing the connection.
 */
export const compression: Middleware = (ctx, next) =>
  andThen(next(), () => {
    if (String(ctx.res.getHeader('Content-Type')).startsWith(NDJSON)) ctx.vary('Accept-Encoding');
    const coding = isCompressible(ctx) ? preferredCoding(ctx.get('Accept-Encoding')) : undefined;
    return coding && compress(ctx, coding);
  });

function isCompressible({ body, res, response }: Context): boolean {
  if (!String(res.getHeader('Vary')).includes('Accept-Encoding')) return false;
  if (String(res.getHeader('ETag')).startsWith('"')) return false;
  if (body instanceof Readable) return true;
  // Koa has counted the bytes of a text.
  return (
    (typeof body === 'string' || Buffer.isBuffer(body)) && (response.length ?? 0) > MAX_UNCOMPRESSED_BYTES
  );
}

/** Compresses the body, for HEAD only if its length is known. Streams are not read for HEAD. */
async function compress(ctx: Context, coding: Coding): Promise<void> {
  const { body } = ctx;
  const codec = CODECS[coding];
  if (ctx.state.document) ctx.body = await ctx.state.document.compressedBy(coding);
  else if (!(body instanceof Readable))
    ctx.body = await codec.compress(typeof body === 'string' ? Buffer.from(body) : (body as Buffer));
  else if (ctx.method !== 'HEAD') ctx.body = compressedStream(body, codec);
  ctx.set('Content-Encoding', coding);
}

/** If either stream fails or is destroyed, the other is destroyed too. Koa then cuts the connection. */
function compressedStream(source: Readable, codec: Codec): Readable {
  const compressor = codec.createStream();
  pipeline(source, compressor, () => {});
  return compressor;
}
