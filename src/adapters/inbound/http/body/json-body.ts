import type { IncomingMessage } from 'node:http';
import bodyParser from 'koa-bodyparser';
import { SMALL_BYTES, taskOf } from '../core/concurrency-limits.js';
import type { Context, Middleware } from '../core/context.js';
import { type CodedError, HttpError } from '../core/http-error.js';
import { parseBody } from './strict-json.js';

/** After a body that took longer, in milliseconds, the client is authenticated again. */
const SLOW_BODY_MS = 1_000;

const PARAMETERS = /^(?:;[ \t]*(?:[^\s;="]+=(?:"(?:[^"\\]|\\.)*"|[^\s;"]+)[ \t]*)?)*$/;
const CHARSET = /;\s*charset="?([^\s;"]*)/gi;

/**
 * Parses a JSON body into `ctx.request.body`. The route has already checked the media type.
 * @throws HttpError `payload_too_large`, `malformed_json`
 * @throws AppError `unavailable`; those of `checkAccess`, if the body was slow
 */
export function readJsonBody(limitBytes: number): Middleware {
  return readBody(limitBytes, parseBody);
}

/**
 * Like {@link readJsonBody}, for any syntax.
 * @param parse gets all bytes of the body; empty if there is no body
 */
export function readBody(limitBytes: number, parse: (bytes: Buffer) => unknown): Middleware {
  // The parser only reads bytes up to the limit; `parse` does the rest.
  const asBytes = { encoding: null };
  const readBytes = bodyParser({
    ...asBytes,
    enableTypes: ['text'],
    textLimit: `${limitBytes}b`,
    extendTypes: { text: ['*/*'] },
    onerror: (error, { req }) => {
      throw hasType(error, 'entity.too.large') ? tooLarge(limitBytes) : toReadError(error, req);
    },
  });
  return async (ctx, next) => {
    const maxBytes = maxBodyBytes(ctx, limitBytes);
    if (maxBytes > limitBytes) throw tooLarge(limitBytes);
    const permit = maxBytes > SMALL_BYTES ? await ctx.state.limits.acquire(ctx, 'bodies', maxBytes) : undefined;
    sendContinue(ctx);
    const begin = performance.now();
    try {
      if (maxBytes > 0) await readBytes(ctx, doNothing);
    } catch (error) {
      // Drops the rest of the body, so that the client can read the response. The request's deadline still applies.
      ctx.req.resume();
      throw error;
    }
    if (performance.now() - begin > SLOW_BODY_MS) await ctx.state.checkAccess?.();
    const bytes = maxBytes > 0 ? (ctx.request.body as Buffer) : Buffer.alloc(0);
    permit?.shrink(bytes.length);
    // Large bodies wait for their turn, so that parsing them does not block others.
    if (bytes.length > SMALL_BYTES) await taskOf(ctx).yield();
    ctx.request.body = parse(bytes);
    await next();
  };
}

async function doNothing(): Promise<void> {}

/** The media type of the body, without parameters. */
export function mediaType(ctx: Context): string {
  const { 'content-type': contentType = '' } = ctx.headers;
  const end = contentType.indexOf(';');
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}

export interface MediaTypeCheck {
  readonly mediaTypes: readonly string[];
  /** Whether a request without a body may lack a media type. */
  readonly isOptional: boolean;
}

/**
 * Checks the media type, charset and codings of the body.
 * @throws HttpError `unsupported_media_type`
 */
export function checkMediaType(ctx: Context, { mediaTypes, isOptional }: MediaTypeCheck): void {
  const { headers } = ctx;
  const contentType = headers['content-type'] ?? '';
  const isKnown = mediaTypes.includes(mediaType(ctx));
  const isEncoded = !isAbsentOr('identity', headers['content-encoding']);
  const isTransferCoded = !isAbsentOr('chunked', headers['transfer-encoding']);
  const isAccepted = isKnown && areParametersAllowed(contentType) && !isEncoded && !isTransferCoded;
  if (isAccepted || (isOptional && contentType === '' && !hasBody(ctx))) return;
  if (ctx.method === 'PATCH') ctx.set('Accept-Patch', mediaTypes.join(', '));
  throw new HttpError('unsupported_media_type', sendAs(mediaTypes));
}

/**
 * Rejects a media type that belongs to a subpath, with a message that names the subpath.
 * @param mediaTypes those of this path
 * @param subpathByType the last segment of the subpath for each media type that belongs to one
 * @throws HttpError `unsupported_media_type`
 */
export function rejectTypeOfSubpath(
  ctx: Context,
  mediaTypes: readonly string[],
  subpathByType: Readonly<Record<string, string>>,
): void {
  const type = mediaType(ctx);
  const segment = Object.hasOwn(subpathByType, type) ? subpathByType[type] : undefined;
  if (segment === undefined) return;
  const message = `${sendAs(mediaTypes)} Send ${type} to ${ctx.state.addressOf(`${ctx.path}/${segment}`)}.`;
  throw new HttpError('unsupported_media_type', message);
}

function sendAs(mediaTypes: readonly string[]): string {
  return `Send the body as ${mediaTypes.join(' or ')} in UTF-8, without a content coding.`;
}

function isAbsentOr(coding: string, header = ''): boolean {
  return header === '' || header.toLowerCase() === coding;
}

/** Whether the parameters are valid (RFC 9110 section 5.6.6) and no charset other than UTF-8 is named. */
function areParametersAllowed(contentType: string): boolean {
  const start = contentType.indexOf(';');
  if (start < 0) return true;
  const parameters = contentType.slice(start);
  if (!PARAMETERS.test(parameters)) return false;
  const charsets = [...parameters.matchAll(CHARSET)].map(([, charset]) => charset?.toLowerCase());
  return charsets.every((charset) => charset === 'utf-8' || charset === 'utf8');
}

function hasBody(ctx: Context): boolean {
  return maxBodyBytes(ctx, 1) > 0;
}

/** The maximum size of the body: its declared length, else the limit. 0 if there is no body. */
function maxBodyBytes({ headers }: Context, limitBytes: number): number {
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  if (length) return Number(length);
  return coding ? limitBytes : 0;
}

/** Sends `100 Continue` if the client expects it (RFC 9110 section 10.1.1). */
export function sendContinue(ctx: Context): void {
  if (!expectsContinue(ctx)) return;
  ctx.res.writeContinue();
  ctx.state.continued = true;
}

function expectsContinue(ctx: Context): boolean {
  return ctx.req.httpVersion === '1.1' && ctx.headers.expect?.toLowerCase() === '100-continue';
}

/**
 * An error of a client that has gone gets a code only for the log, because the client cannot read a response. The
 * client may have gone before the reading began.
 */
function toReadError(error: Error, { destroyed }: IncomingMessage): Error {
  return destroyed ? new HttpError('request_timeout', 'The body broke off.') : error;
}

function hasType(error: Error, type: string): boolean {
  return 'type' in error && error.type === type;
}

/** @param what the part of the request that is too large */
export function tooLarge(limitBytes: number, what = 'body'): CodedError {
  return new HttpError('payload_too_large', `The ${what} is larger than ${limitBytes} bytes.`);
}
