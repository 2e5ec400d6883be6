import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { andThen, catchErrors, type MaybePromise } from '../../../../shared/promises.js';
import { type ConcurrencyLimits, SMALL_BYTES } from '../core/concurrency-limits.js';
import type { Context, Middleware } from '../core/context.js';
import { HttpError, invalidHeader } from '../core/http-error.js';
import { isProbe } from '../core/route.js';
import { connectionOf } from '../server/connection.js';
import { networkOf, parseAddress, type TrustedProxies } from '../server/ip-address.js';

// The request: its address, its size, and whether all programs read it alike.

/** Finds the IPv4 address, or the /64 of the IPv6 address, of the client that sent a request. */
export type ClientAddress = (request: IncomingMessage) => string;

/** The address of a client that connects directly. `X-Forwarded-For` is ignored. */
export const directAddress: ClientAddress = ({ socket }) => connectionOf(socket).peer.network;

/**
 * The address of a client behind a proxy that terminates TLS. A request that bypassed the proxy or reached it over plain
 * HTTP is rejected. It is not redirected, because its token has already been sent in the clear. Probes may bypass the
 * proxy.
 * @throws HttpError `https_required`
 */
export function proxiedAddress(proxies: TrustedProxies): ClientAddress {
  return (request) => {
    const { socket, headers } = request;
    const peer = parseAddress(socket.remoteAddress);
    const isTrusted = peer !== undefined && proxies.includes(peer);
    if (!(isTrusted && isHttps(String(headers['x-forwarded-proto'] ?? ''))) && !isProbe(request)) {
      throw new HttpError('https_required', 'This service is available only over HTTPS, through its proxy.');
    }
    const forwardedFor = String(headers['x-forwarded-for'] ?? '');
    return networkOf(isTrusted ? proxies.clientOf(peer, forwardedFor) : peer);
  };
}

/** Of several proxies each must say https: the request has passed all of them. */
function isHttps(forwardedProto: string): boolean {
  return forwardedProto.split(',').every((protocol) => protocol.trim().toLowerCase() === 'https');
}

const MAX_TARGET_BYTES = 8 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * The headers that a message has at most once (RFC 9110, RFC 9112 section 3.2, RFC 6454 section 7). If one is repeated,
 * one program may read the first and another the last. Node drops all but the first of most of them.
 */
const SINGLETON_HEADERS = new Set([
  'access-control-request-method',
  'api-version',
  'authorization',
  'content-length',
  'content-location',
  'content-range',
  'content-type',
  'date',
  'from',
  'host',
  'if-modified-since',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'max-forwards',
  'origin',
  'proxy-authorization',
  'range',
  'referer',
  'user-agent',
]);

/**
 * A valid `Host` (RFC 9110 section 7.2, RFC 3986 section 3.2.2). The comma is not allowed, because some programs read
 * it as the end of a value.
 */
const HOST = /^(?:\[[\w.:~!$&'()*+;=-]+\]|(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/**
 * Finds the address that limits count, and rejects messages that are too large, and messages that two programs could
 * read differently (RFC 9112 sections 2.3, 3.2, 6.1 and 11). Both close the connection: programs could disagree about
 * where an ambiguous message ends, and no rate limit counts a large one, so a new connection for each slows the client.
 * @param addressOf absent: nothing is counted
 * @throws HttpError `https_required`, `invalid_parameter`, `uri_too_long`, `headers_too_large`
 */
export function requestLimits(addressOf?: ClientAddress): Middleware {
  return (ctx, next) => {
    if (addressOf) ctx.state.address = addressOf(ctx.req);
    try {
      const error = ambiguityOf(ctx.req);
      if (error) throw error;
      checkTarget(ctx.url);
      checkSize(ctx.req);
    } catch (error) {
      ctx.set('Connection', 'close');
      throw error;
    }
    return next();
  };
}

/** @throws HttpError `uri_too_long` */
export function checkTarget(target: string): void {
  if (target.length <= MAX_TARGET_BYTES) return;
  throw new HttpError('uri_too_long', `The URL, or that of the next page, is longer than ${MAX_TARGET_BYTES} bytes.`);
}

function checkSize({ rawHeaders }: IncomingMessage): void {
  let bytes = 0;
  // Each name is followed by ": ", each value by CR LF.
  for (const text of rawHeaders) bytes += text.length + 2;
  if (bytes > MAX_HEADER_BYTES) {
    throw new HttpError('headers_too_large', `The headers are larger than ${MAX_HEADER_BYTES} bytes.`);
  }
}

function ambiguityOf(request: IncomingMessage): HttpError | undefined {
  const { httpVersion, headers } = request;
  const repeated = repeatedSingleton(request);
  if (repeated) return invalidHeader(repeated, 'duplicate_value', `The header ${repeated} is given more than once.`);
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return new HttpError('invalid_parameter', 'The HTTP version must be 1.1 or 1.0.');
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined)
    return invalidHeader('Transfer-Encoding', 'invalid_format', 'HTTP/1.0 has no Transfer-Encoding.');
  // Node reads an empty one as none. Another program could read it as an unknown coding.
  if (headers['transfer-encoding'] === '')
    return invalidHeader('Transfer-Encoding', 'invalid_format', 'Transfer-Encoding is empty.');
  if (httpVersion === '1.1' && headers.host === undefined) return invalidHeader('Host', 'required', 'Host is missing.');
  if (!HOST.test(headers.host ?? ''))
    return invalidHeader('Host', 'invalid_format', 'Host is not a name or an address, perhaps with a port.');
  return undefined;
}

function repeatedSingleton({ rawHeaders }: IncomingMessage): string | undefined {
  const seen = new Set<string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? '';
    if (!SINGLETON_HEADERS.has(name)) continue;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

// The response: its size, and the time of sending it.

export interface SendingLimits {
  /** The milliseconds that a client has in addition to the time for the bytes. */
  readonly graceMs: number;
  /** The minimum average speed at which the client reads. */
  readonly bytesPerMs: number;
}

/** Koa and this service add ten listeners to a streamed response. Node warns about more than ten by default. */
const MAX_LISTENERS = 20;

/** 30 seconds, and one more for each 32 KiB. */
const DEFAULTS: SendingLimits = { graceMs: 30_000, bytesPerMs: 32.768 };

/**
 * Limits the bytes of responses that clients have not received yet, and the time of sending them. Lists and writes
 * reserve a permit before they begin, so that nothing is read or written for a response that is then rejected. Other
 * large responses, errors among them, take a permit when their size is known; `errors` responds if there is none. All
 * permits of a request are released when its response is sent or its connection is closed, but not before its handler
 * has ended, so that a client that disconnects cannot start more work.
 */
export function responseLimits(
  limits: ConcurrencyLimits,
  errors: Middleware,
  sending: SendingLimits = DEFAULTS,
): Middleware {
  return (ctx, next) => {
    ctx.state.limits = limits;
    ctx.state.permits = [];
    const hold = () => holdResponse(ctx, limits);
    return andThen(
      catchErrors(
        () => andThen(next(), () => errors(ctx, hold)),
        (error) => {
          releaseOnClose(ctx);
          throw error;
        },
      ),
      () => {
        releaseOnClose(ctx);
        limitSendingTime(ctx, sending);
      },
    );
  };
}

/** Makes the permit of the response as large as its body. An error can be larger than what it was reserved for. */
function holdResponse(ctx: Context, limits: ConcurrencyLimits): MaybePromise<void> {
  const bytes = responseBytes(ctx);
  const { responsePermit, errorCode } = ctx.state;
  if (responsePermit && errorCode === undefined) return responsePermit.shrink(bytes);
  responsePermit?.release();
  if (bytes > SMALL_BYTES) return andThen(limits.acquire(ctx, 'responses', bytes), () => {});
}

/** Closes the connection of a client that reads a response too slowly. Streams of unknown size have no such limit. */
function limitSendingTime(ctx: Context, { graceMs, bytesPerMs }: SendingLimits): void {
  const bytes = responseBytes(ctx);
  if (bytes <= SMALL_BYTES || ctx.res.closed) return;
  const { socket } = ctx.req;
  const timer = setTimeout(() => socket.destroy(), graceMs + bytes / bytesPerMs);
  ctx.res.once('close', () => clearTimeout(timer));
}

function releaseOnClose({ res, state: { permits } }: Context): void {
  const releaseAll = () => {
    for (const permit of permits) permit.release();
  };
  if (permits.length === 0) return;
  if (res.closed) releaseAll();
  else res.setMaxListeners(MAX_LISTENERS).once('close', releaseAll);
}

/** The bytes that the response holds in memory; 0 for a stream of unknown size. */
function responseBytes({ body, method, state, response }: Context): number {
  if (method === 'HEAD') return 0;
  // Koa has counted the bytes of a text.
  if (typeof body === 'string' || Buffer.isBuffer(body)) return response.length ?? 0;
  return body instanceof Readable ? (state.responsePermit?.size ?? 0) : 0;
}
