import bodyParser from 'koa-bodyparser';
import { yieldFairly } from '../../../../shared/event-loop.js';
import type { Context, Middleware } from '../context.js';
import { HttpError } from '../response/http-error.js';
import { clientOf, SMALL_BYTES } from '../work-limits.js';
import { parseStrictJson } from './strict-json.js';

const PARAMETERS = /^(?:;[ \t]*(?:[^\s;="]+=(?:"(?:[^"\\]|\\.)*"|[^\s;"]+)[ \t]*)?)*$/;
const CHARSET = /;\s*charset="?([^\s;"]*)/gi;

/**
 * Leaves the parsed body in `ctx.request.body`. The route has checked its media type.
 * @throws HttpError `payload_too_large`, `malformed_json`
 * @throws AppError `unavailable`
 */
export function readJsonBody(limitBytes: number): Middleware {
  return readBody(limitBytes, parseStrictJson);
}

/**
 * As {@link readJsonBody}, of another syntax.
 * @param parse takes all bytes, or none where there is no body
 */
export function readBody(limitBytes: number, parse: (bytes: Buffer) => unknown): Middleware {
  // The parser only reads and bounds; what it hands over is the bytes, for one strict parser to judge.
  const asBytes = { encoding: null };
  const readBytes = bodyParser({
    ...asBytes,
    enableTypes: ['text'],
    textLimit: `${limitBytes}b`,
    extendTypes: { text: ['*/*'] },
    onerror: (error) => {
      throw hasType(error, 'entity.too.large') ? tooLarge(limitBytes) : asReadError(error);
    },
  });
  return async (ctx, next) => {
    if (isDeclaredTooLarge(ctx, limitBytes)) throw tooLarge(limitBytes);
    const most = mostBytes(ctx, limitBytes);
    const share = most > SMALL_BYTES ? await ctx.state.limits.take(ctx, 'bodies', most) : undefined;
    sendContinue(ctx);
    try {
      if (hasBody(ctx)) await readBytes(ctx, async () => {});
    } catch (error) {
      // The rest is read and dropped, so that the client gets to read the answer; the request's time bounds it.
      ctx.req.resume();
      throw error;
    }
    const bytes = hasBody(ctx) ? (ctx.request.body as Buffer) : Buffer.alloc(0);
    share?.shrinkTo(bytes.length);
    // The work that large bodies make is spread over turns of the event loop.
    if (bytes.length > SMALL_BYTES) await yieldFairly(clientOf(ctx));
    ctx.request.body = parse(bytes);
    await next();
  };
}

/** What the body is sent as, without parameters. */
export function mediaType(ctx: Context): string {
  return ctx.get('Content-Type').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** @throws HttpError `unsupported_media_type` */
export function checkMediaType(ctx: Context, mediaTypes: readonly string[]): void {
  const contentType = ctx.get('Content-Type');
  const isKnown = mediaTypes.includes(mediaType(ctx));
  const isCoded = !['', 'identity'].includes(ctx.get('Content-Encoding').toLowerCase());
  const isTransferCoded = !['', 'chunked'].includes(ctx.get('Transfer-Encoding').toLowerCase());
  const isRead = isKnown && hasHarmlessParameters(contentType) && !isCoded && !isTransferCoded;
  if (isRead || (contentType === '' && !hasBody(ctx))) return;
  if (ctx.method === 'PATCH') ctx.set('Accept-Patch', mediaTypes.join(', '));
  throw new HttpError(
    'unsupported_media_type',
    `The body is to be sent as ${mediaTypes.join(' or ')} in UTF-8, with no content coding.`,
  );
}

/** RFC 9110 section 5.6.6; any parameters, but no other charset than UTF-8. */
function hasHarmlessParameters(contentType: string): boolean {
  const at = contentType.indexOf(';');
  if (at < 0) return true;
  const parameters = contentType.slice(at);
  if (!PARAMETERS.test(parameters)) return false;
  const charsets = [...parameters.matchAll(CHARSET)].map(([, charset]) => charset?.toLowerCase());
  return charsets.every((charset) => charset === 'utf-8' || charset === 'utf8');
}

function hasBody(ctx: Context): boolean {
  return ctx.get('Transfer-Encoding') !== '' || Number(ctx.get('Content-Length')) > 0;
}

/** What the body may have: its declared length, else the limit. */
function mostBytes(ctx: Context, limitBytes: number): number {
  if (!hasBody(ctx)) return 0;
  return Number(ctx.get('Content-Length') || limitBytes);
}

function isDeclaredTooLarge(ctx: Context, limitBytes: number): boolean {
  return Number(ctx.get('Content-Length')) > limitBytes;
}

/** Lets a client send its body that waits for the word to do so (RFC 9110 section 10.1.1). */
export function sendContinue(ctx: Context): void {
  if (!expectsContinue(ctx)) return;
  ctx.res.writeContinue();
  ctx.state.continued = true;
}

function expectsContinue(ctx: Context): boolean {
  return ctx.req.httpVersion === '1.1' && ctx.get('Expect').toLowerCase() === '100-continue';
}

function asReadError(error: Error): Error {
  return hasType(error, 'request.aborted') ? brokenOff() : error;
}

/** A client that goes away in mid-body reads no answer; this is for the log. */
function brokenOff(): HttpError {
  return new HttpError('request_timeout', 'The body broke off.');
}

function hasType(error: Error, type: string): boolean {
  return 'type' in error && error.type === type;
}

export function tooLarge(limitBytes: number, what = 'body'): HttpError {
  return new HttpError('payload_too_large', `The ${what} is larger than ${limitBytes} bytes.`);
}
