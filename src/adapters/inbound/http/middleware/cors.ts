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

/** The request headers that the service reads. */
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
].join(', ');

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
    return andThen(next(), () => {
      if (ctx.state.isPreflight && ctx.status === 204) setPreflightHeaders(ctx);
    });
  };
}

function isPreflight(ctx: Context): boolean {
  const requestedMethod = ctx.get('Access-Control-Request-Method');
  return ctx.method === 'OPTIONS' && ctx.get('Origin') !== '' && requestedMethod !== '';
}

function setPreflightHeaders(ctx: Context): void {
  ctx.set('Access-Control-Allow-Methods', ctx.response.get('Allow'));
  ctx.set('Access-Control-Allow-Headers', ALLOWED_HEADERS);
  ctx.set('Access-Control-Max-Age', MAX_AGE_SECONDS);
}
