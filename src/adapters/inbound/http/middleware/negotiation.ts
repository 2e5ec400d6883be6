import type { IncomingMessage } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import { andThen } from '../../../../shared/promises.js';
import type { Coding, Context, Middleware } from '../core/context.js';
import { HttpError } from '../core/http-error.js';
import { JSON_UTF8, NDJSON, PROBLEM } from '../core/media-types.js';
import { TextCache } from '../parameters/query.js';

// The media type, by `Accept`.

/** More than any client needs. Bounds the time of the negotiation. */
const MAX_ACCEPT_LENGTH = 1_000;

/** Any parameter of a media range except `q` and `charset`. */
const IGNORED_PARAMETERS = /;(?!\s*(?:q|charset)\s*=)[^;,="]*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^;,"]*))?/gi;

const normalizedTexts = new TextCache<string>();

/** Shortens `Accept` in the request, and removes parameters that no response has, such as `profile`. */
function normalizedAccept({ headers }: IncomingMessage): string {
  if (!headers.accept) return '';
  headers.accept = normalizedTexts.get(headers.accept, normalized);
  return headers.accept;
}

function normalized(accept: string): string {
  const isLong = accept.length > MAX_ACCEPT_LENGTH;
  const text = isLong ? accept.slice(0, MAX_ACCEPT_LENGTH).replace(/,[^,]*$/, '') : accept;
  return text.replace(IGNORED_PARAMETERS, '');
}

/**
 * Returns a function that selects the media type that the client prefers (RFC 9110 section 12.5.1); false if it
 * accepts none. It normalizes `Accept` for what reads it later. The results are cached by its text.
 */
export function preferredType(types: readonly string[]): (ctx: Context) => string | false {
  const byAccept = new TextCache<string | false>();
  const all = [...types];
  return (ctx) => byAccept.get(normalizedAccept(ctx.req), () => ctx.accepts(all));
}

/**
 * Returns the check of the headers that negotiate a response.
 * @param types the media types of the response, in addition to JSON
 */
export function negotiation(types: readonly string[] = []): (ctx: Context) => void {
  const preferred = preferredType([JSON_UTF8, PROBLEM, ...types]);
  const known = [JSON_UTF8, ...types].map((type) => type.replace(/;.*/, '')).join(' or ');
  return (ctx) => {
    if (!preferred(ctx)) {
      throw new HttpError('not_acceptable', `Accept matches no media type of the response: ${known}.`);
    }
    const { expect } = ctx.req.headers;
    if (expect && expect.toLowerCase() !== '100-continue') {
      throw new HttpError('expectation_failed', 'The only supported expectation is 100-continue.');
    }
  };
}

// The content coding, by `Accept-Encoding`.

/** A coding with an optional weight (RFC 9110 sections 12.4.2 and 12.5.3). */
const ELEMENT = /^([!#$%&'*+.^_`|~0-9a-z-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/;

/** Level 6 takes two to three times as long for a fifth less. */
const GZIP = { level: 4 };

/** Costs about as much as {@link GZIP}. The window is 256 KiB, because each stream holds one; the default is 4 MiB. */
const BROTLI = brotliOfQuality(4);

function brotliOfQuality(quality: number) {
  return {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_LGWIN]: 18,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    },
  };
}

const gzipBytes = promisify<Buffer, object, Buffer>(gzip);
const brotliBytes = promisify<Buffer, object, Buffer>(brotliCompress);

/**
 * Compresses on Node's thread pool, so that a large response does not delay others. `compressKept` is slower and a tenth
 * smaller: for bytes that are sent many times. `createStream` flushes after each chunk, so that a line does not wait until
 * a block is full.
 */
export const CODECS = {
  gzip: {
    compress: (bytes: Buffer) => gzipBytes(bytes, GZIP),
    compressKept: (bytes: Buffer) => gzipBytes(bytes, { level: 9 }),
    createStream: () => createGzip({ ...GZIP, flush: constants.Z_SYNC_FLUSH }),
  },
  br: {
    compress: (bytes: Buffer) => brotliBytes(bytes, BROTLI),
    compressKept: (bytes: Buffer) => brotliBytes(bytes, brotliOfQuality(9)),
    createStream: () => createBrotliCompress({ ...BROTLI, flush: constants.BROTLI_OPERATION_FLUSH }),
  },
};

/**
 * The coding with the highest weight, or undefined if the client prefers an uncompressed response. At equal weights br
 * wins, because it is smaller at about the same cost. `*` alone selects gzip. If the client accepts neither br nor
 * gzip, the response is not compressed, even if the client refuses `identity`. By hand: Koa's `acceptsEncodings` breaks
 * ties by the order in the header, so the `gzip, deflate, br` of every browser would select gzip, and it accepts
 * malformed weights.
 */
export function preferredCoding(acceptEncoding: string): Coding | undefined {
  const weights = weightsIn(acceptEncoding);
  const other = weights.get('*') ?? 0;
  const [br, gzip, none] = [weights.get('br') ?? 0, weights.get('gzip') ?? other, weights.get('identity') ?? other];
  const best = Math.max(br, gzip);
  if (best === 0 || best < none) return undefined;
  return br === best ? 'br' : 'gzip';
}

/** The weight of each coding. Empty if any element is malformed. */
function weightsIn(acceptEncoding: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const element of acceptEncoding.toLowerCase().split(',')) {
    const text = element.trim();
    if (text === '') continue;
    const [, coding, weight = '1'] = ELEMENT.exec(text) ?? [];
    if (coding === undefined) return new Map();
    weights.set(coding, Number(weight));
  }
  return weights;
}

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
  return (typeof body === 'string' || Buffer.isBuffer(body)) && (response.length ?? 0) > MAX_UNCOMPRESSED_BYTES;
}

/** Compresses the body, for HEAD only if its length is known. Streams are not read for HEAD. */
async function compress(ctx: Context, coding: Coding): Promise<void> {
  const { body } = ctx;
  if (ctx.state.document) ctx.body = await ctx.state.document.compressedBy(coding);
  else if (!(body instanceof Readable))
    ctx.body = await CODECS[coding].compress(typeof body === 'string' ? Buffer.from(body) : (body as Buffer));
  else if (ctx.method !== 'HEAD') ctx.body = compressedStream(body, coding);
  ctx.set('Content-Encoding', coding);
}

/** If either stream fails or is destroyed, the other is destroyed too. Koa then cuts the connection. */
function compressedStream(source: Readable, coding: Coding): Readable {
  const compressor = CODECS[coding].createStream();
  pipeline(source, compressor, () => {});
  return compressor;
}
