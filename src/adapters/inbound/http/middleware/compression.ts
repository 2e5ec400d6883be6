import { pipeline, Readable } from 'node:stream';
import type { Context, Middleware } from '../context.js';
import { NDJSON } from '../list/ndjson.js';
import { CODECS, type Codec, type Coding, preferredCoding } from './compression-codecs.js';

/** A shorter body fits into one packet uncompressed. */
const MAX_UNCODED_BYTES = 1_024;

/**
 * Compresses responses that vary by Accept-Encoding, and lines. A response with a strong tag is not compressed,
 * because the tag identifies these very bytes (RFC 9110 section 8.8.3). Neither are errors, which pass this
 * middleware as exceptions. By hand: koa-compress pipes without passing on errors, so a failing export would hang
 * instead of being cut.
 */
export const compression: Middleware = async (ctx, next) => {
  await next();
  if (ctx.response.type === NDJSON) ctx.vary('Accept-Encoding');
  if (!mayBeCoded(ctx)) return;
  const coding = preferredCoding(ctx.get('Accept-Encoding'));
  if (coding === undefined) return;
  await code(ctx, coding);
  ctx.set('Content-Encoding', coding);
};

function mayBeCoded(ctx: Context): boolean {
  if (!isWorthIt(ctx.body)) return false;
  const { vary, etag } = ctx.response.headers;
  return String(vary).includes('Accept-Encoding') && !String(etag).startsWith('"');
}

function isWorthIt(body: unknown): boolean {
  if (body instanceof Readable) return true;
  return (typeof body === 'string' || Buffer.isBuffer(body)) && Buffer.byteLength(body) > MAX_UNCODED_BYTES;
}

/** Also for HEAD if the length is known. No stream is read for HEAD. */
async function code(ctx: Context, coding: Coding): Promise<void> {
  const { body } = ctx;
  const codec = CODECS[coding];
  if (ctx.state.document) ctx.body = await ctx.state.document.coded(coding);
  else if (!(body instanceof Readable))
    ctx.body = await codec.whole(typeof body === 'string' ? Buffer.from(body) : (body as Buffer));
  else if (ctx.method !== 'HEAD') ctx.body = coded(body, codec);
}

/** If either stream fails or is left, so does the other. Koa, which sends the coder, then cuts the connection. */
function coded(source: Readable, codec: Codec): Readable {
  const coder = codec.stream();
  pipeline(source, coder, () => {});
  return coder;
}
