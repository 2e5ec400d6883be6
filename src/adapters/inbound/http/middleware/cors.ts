import { andThen } from '../../../../shared/maybe-promise.js';
import type { Context, Middleware } from '../core/context.js';

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

/** RFC 9110 section 5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

const MAX_REQUESTED_BYTES = 8_192;

/** How long a browser caches a preflight. Some browsers allow at most two hours, others a day. */
const MAX_AGE_SECONDS = '7200';

/**
 * Lets scripts of other origins read the responses (Fetch standard, CORS protocol). Cookies and other credentials of
 * the browser are not allowed, because the service accepts only tokens. By hand: @koa/cors responds to preflights
 * itself and knows neither the methods of the route nor its errors.
 * @param list origins as browsers send them, separated by commas; `*` for any; empty for none
 */
export function cors(list: string): Middleware {
  if (list === '') return (_ctx, next) => next();
  const origins = new Set(list.split(',').map((origin) => origin.trim()));
  return (ctx, next) => {
    ctx.vary('Origin');
    const allowed = origins.has('*') ? '*' : ctx.get('Origin');
    if (!origins.has(allowed)) return next();
    ctx.set('Access-Control-Allow-Origin', allowed);
    ctx.set('Access-Control-Expose-Headers', EXPOSED_HEADERS);
    ctx.state.isPreflight = isPreflight(ctx);
    if (ctx.state.isPreflight) ctx.vary(REQUESTED);
    return andThen(next(), () => {
      if (ctx.state.isPreflight && ctx.status === 204) setPreflightHeaders(ctx);
    });
  };
}

function isPreflight(ctx: Context): boolean {
  const requestedMethod = ctx.get('Access-Control-Request-Method');
  return ctx.method === 'OPTIONS' && ctx.get('Origin') !== '' && requestedMethod !== '';
}

const REQUESTED = 'Access-Control-Request-Headers';

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

const KNOWN_HEADERS = new Set(ALLOWED_HEADERS.map((name) => name.toLowerCase()));

function setPreflightHeaders(ctx: Context): void {
  ctx.set('Access-Control-Allow-Methods', ctx.response.get('Allow'));
  ctx.set('Access-Control-Allow-Headers', allowedHeaders(ctx.get(REQUESTED)));
  ctx.set('Access-Control-Max-Age', MAX_AGE_SECONDS);
}
