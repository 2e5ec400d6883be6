import { randomUUID } from 'node:crypto';
import { andThen } from '../../../../shared/promises.js';
import type { PublicUrl } from '../../../../shared/public-url.js';
import { redactSecrets } from '../../../../shared/shown-text.js';
import type { Context, Middleware } from '../core/context.js';
import { type Access, isVersionInPath, pathIn } from '../core/route.js';

export interface ResponseHeaderOptions {
  /** A process that stops lets its clients connect elsewhere. */
  readonly isDraining: () => boolean;
  /** Makes the addresses in responses. Absent: they have none. */
  readonly addressOf?: PublicUrl['addressOf'];
  /** Origins that browsers send, separated by commas: their scripts may read the responses. `*`: all. Default: none. */
  readonly corsOrigins?: string;
}

/** Sets the headers of every response, errors too, that depend on no route, and those that follow from its outcome. */
export function responseHeaders({ isDraining, addressOf, corsOrigins }: ResponseHeaderOptions): Middleware {
  const allowOrigin = corsOrigins ? cors(corsOrigins) : undefined;
  return (ctx, next) => {
    if (addressOf) ctx.state.addressOf = addressOf;
    identify(ctx);
    allowOrigin?.(ctx);
    // No cache keeps what a handler does not allow it to.
    ctx.set('Cache-Control', 'no-store');
    return andThen(next(), () => {
      if (String(ctx.res.getHeader('Cache-Control')).startsWith('public')) hideClient(ctx);
      announceRemoval(ctx);
      if (isDraining() || awaitsContinue(ctx)) ctx.set('Connection', 'close');
      if (ctx.state.isPreflight && ctx.status === 204) setPreflightHeaders(ctx);
    });
  };
}

// The id of the request.

/** A valid request id, which is safe to log. */
export const REQUEST_ID = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

/** A request target (RFC 9112 section 3.2): a path, or a URL, whose host is ignored. */
const TARGET = /^(?:https?:\/\/[^/?#]*)?(\/[^#]*)$/i;

/** A user and a password in Base64, as `Authorization: Basic` has them (RFC 7617), decoded. */
const USER_AND_PASSWORD = /^[ -~]+:[ -~]+$/;

/** Sets the id of the request, and the API version of errors that occur before a route is found. */
function identify(ctx: Context): void {
  // Any other target is not a path of this service and must not be parsed as one.
  ctx.req.url = TARGET.exec(ctx.req.url ?? '')?.[1] ?? '*';
  const sent = ctx.req.headers['x-request-id'];
  ctx.state.requestId = typeof sent === 'string' && isSafe(sent) ? sent : randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
  ctx.set('API-Version', '1');
}

/** An id that looks like a credential is replaced: the id is in the log, in the traces and in responses. */
function isSafe(sent: string): boolean {
  if (!REQUEST_ID.test(sent) || redactSecrets(sent) !== sent) return false;
  const [base64, hex] = [decoded(sent, 'base64'), decoded(sent, 'hex')];
  return redactSecrets(base64) === base64 && redactSecrets(hex) === hex && !USER_AND_PASSWORD.test(base64);
}

function decoded(sent: string, encoding: 'base64' | 'hex'): string {
  return Buffer.from(sent, encoding).toString('latin1');
}

/** A response that shared caches may keep says nothing of the client that asked. */
function hideClient(ctx: Context): void {
  ctx.remove('RateLimit');
  ctx.remove('RateLimit-Policy');
  if (ctx.req.headers['x-request-id'] === undefined) return;
  ctx.state.requestId = randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
}

// What the response says of the connection and of the version.

/**
 * Whether a client that awaits `100 Continue` gets a final response without it. It is then unknown whether the body
 * follows, so the connection is closed (RFC 9110 section 10.1.1).
 */
function awaitsContinue({ req, state }: Context): boolean {
  return req.headers.expect !== undefined && !state.continued;
}

/**
 * Adds the deprecation headers to a response of a deprecated version (RFC 9745, RFC 8594), with a link to the same path
 * in the next version (RFC 5829 section 3.4).
 */
function announceRemoval(ctx: Context): void {
  const deprecation = ctx.state.version?.deprecation;
  if (!deprecation) return;
  const links = ctx.response.get('Link');
  const next = ctx.state.addressOf(pathIn(deprecation.successor, ctx.path));
  const successor = `<${next}>; rel="successor-version"`;
  ctx.set({ ...deprecation.headers, Link: links ? `${links}, ${successor}` : successor });
}

/**
 * Returns a function that names the request headers that a response depends on (RFC 9110 section 12.5.5).
 * @param access a probe does not depend on the version
 * @param headers in addition to `Accept`, and to `API-Version` if the path names no version
 */
export function varyHeader(access: Access, headers: readonly string[] = []): (ctx: Context) => void {
  const always = ['Accept', ...headers].join(', ');
  const unversioned = access === 'probe' ? always : `API-Version, ${always}`;
  return (ctx) => {
    const names = isVersionInPath(ctx.path) ? always : unversioned;
    // Koa's `vary` parses the header to leave out duplicates.
    if (ctx.res.hasHeader('Vary')) ctx.vary(names);
    else ctx.res.setHeader('Vary', names);
  };
}

// CORS. By hand: @koa/cors responds to preflights itself and knows neither the methods of the route nor its errors.

/**
 * The response headers that scripts may read, in addition to the CORS-safelisted response-header names (Fetch
 * standard).
 */
const EXPOSED_HEADERS = [
  'Accept-Patch',
  'Allow',
  'API-Version',
  'Content-Location',
  'Deprecation',
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'Location',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-Request-Id',
  'X-Total-Count',
].join(', ');

/** The request headers that the service reads. A preflight allows them, whatever it asks for. */
const ALLOWED_HEADERS = [
  'Accept',
  'API-Version',
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Prefer',
  'X-Request-Id',
];
const KNOWN_HEADERS = new Set(ALLOWED_HEADERS.map((name) => name.toLowerCase()));

const REQUESTED = 'Access-Control-Request-Headers';

/** RFC 9110 section 5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

const MAX_REQUESTED_BYTES = 8_192;

/** How long a browser caches a preflight. Some browsers allow at most two hours, others a day. */
const MAX_AGE_SECONDS = '7200';

/**
 * Returns a function that lets scripts of other origins read the response (Fetch standard, CORS protocol). Cookies and
 * other credentials of the browser are not allowed, because the service accepts only tokens.
 */
function cors(list: string): (ctx: Context) => void {
  const origins = new Set(list.split(',').map((origin) => origin.trim()));
  return (ctx) => {
    ctx.vary('Origin');
    const allowed = origins.has('*') ? '*' : ctx.get('Origin');
    if (!origins.has(allowed)) return;
    ctx.set('Access-Control-Allow-Origin', allowed);
    ctx.set('Access-Control-Expose-Headers', EXPOSED_HEADERS);
    ctx.state.isPreflight = isPreflight(ctx);
    if (ctx.state.isPreflight) ctx.vary(REQUESTED);
  };
}

function isPreflight(ctx: Context): boolean {
  const requestedMethod = ctx.get('Access-Control-Request-Method');
  return ctx.method === 'OPTIONS' && ctx.get('Origin') !== '' && requestedMethod !== '';
}

/**
 * Adds the headers that a preflight asks for: programs for traces and proxies add many to the requests of a page, and a
 * header that the service does not read is harmless. A list that is malformed or too long adds none.
 */
function allowedHeaders(requested: string): string {
  const names = requested.split(',').map((name) => name.replace(/^[ \t]+|[ \t]+$/g, ''));
  const others = names.filter((name) => name !== '' && !KNOWN_HEADERS.has(name.toLowerCase()));
  const areAllowed = requested.length <= MAX_REQUESTED_BYTES && others.every((name) => TOKEN.test(name));
  return [...ALLOWED_HEADERS, ...(areAllowed ? new Set(others) : [])].join(', ');
}

function setPreflightHeaders(ctx: Context): void {
  ctx.set('Access-Control-Allow-Methods', ctx.response.get('Allow'));
  ctx.set('Access-Control-Allow-Headers', allowedHeaders(ctx.get(REQUESTED)));
  ctx.set('Access-Control-Max-Age', MAX_AGE_SECONDS);
}
