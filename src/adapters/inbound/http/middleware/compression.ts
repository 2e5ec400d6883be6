import { pipeline, Readable } from 'node:stream';
import { type Coding, preferredCoding } from '../accept-encoding.js';
import type { Context, Middleware } from '../context.js';
import { LINES } from '../list/ndjson.js';
import { CODECS, type Codec } from './compression-codecs.js';

/** What is shorter fits into one packet as it is. */
const MAX_UNCODED_BYTES = 1_024;

/**
 * Compresses what may be: an answer that varies by Accept-Encoding, and lines. Whatever carries a strong tag goes as it
 * is, since that tag is of these very bytes (RFC 9110 section 8.8.3). So do errors, which are thrown past this.
 */
export const compression: Middleware = async (ctx, next) => {
  await next();
  if (ctx.response.type === LINES) ctx.vary('Accept-Encoding');
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

/** For HEAD too where the length can be told; of a stream nothing is read for it. */
async function code(ctx: Context, coding: Coding): Promise<void> {
  const { body } = ctx;
  const codec = CODECS[coding];
  if (ctx.state.document) ctx.body = await ctx.state.document.coded(coding);
  else if (!(body instanceof Readable))
    ctx.body = await codec.whole(typeof body === 'string' ? Buffer.from(body) : (body as Buffer));
  else if (ctx.method !== 'HEAD') ctx.body = coded(body, codec);
}

/** Whichever of the two fails or is left takes the other along; Koa, which sends the second, cuts the connection. */
function coded(source: Readable, codec: Codec): Readable {
  const coder = codec.stream();
  pipeline(source, coder, () => {});
  return coder;
}
