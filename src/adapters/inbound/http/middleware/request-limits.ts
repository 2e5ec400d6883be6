import type { IncomingMessage } from 'node:http';
import type { Middleware } from '../core/context.js';
import { HttpError, invalidHeader } from '../core/http-error.js';

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
 * Rejects messages that are too large, and messages that two programs could read differently (RFC 9112 sections 2.3,
 * 3.2, 6.1 and 11). Both close the connection: programs could disagree about where an ambiguous message ends.
 */
export const requestLimits: Middleware = (ctx, next) => {
  const error = ambiguityOf(ctx.req);
  if (error) {
    ctx.set('Connection', 'close');
    throw error;
  }
  try {
    checkTarget(ctx.url);
    checkSize(ctx.req);
  } catch (error) {
    // No rate limit counts such a message. A new connection for each one slows the client down.
    ctx.set('Connection', 'close');
    throw error;
  }
  return next();
};

/** @throws HttpError `uri_too_long` */
export function checkTarget(target: string): void {
  if (target.length <= MAX_TARGET_BYTES) return;
  throw new HttpError(
    'uri_too_long',
    `The URL, or that of the next page, is longer than ${MAX_TARGET_BYTES} bytes.`,
  );
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
  if (repeated)
    return invalidHeader(repeated, 'duplicate_value', `The header ${repeated} is given more than once.`);
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return new HttpError('invalid_parameter', 'The HTTP version must be 1.1 or 1.0.');
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined)
    return invalidHeader('Transfer-Encoding', 'invalid_format', 'HTTP/1.0 has no Transfer-Encoding.');
  // Node reads an empty one as none. Another program could read it as an unknown coding.
  if (headers['transfer-encoding'] === '')
    return invalidHeader('Transfer-Encoding', 'invalid_format', 'Transfer-Encoding is empty.');
  if (httpVersion === '1.1' && headers.host === undefined)
    return invalidHeader('Host', 'required', 'Host is missing.');
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
