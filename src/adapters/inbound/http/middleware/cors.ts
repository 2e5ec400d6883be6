import type { Context, Middleware } from '../context.js';

/**
 * The response headers in the contract, except those that scripts always see (Fetch standard, CORS-safelisted
 * response-header name).
 */
const EXPOSED = [
  'Accept-Patch',
  'Allow',
  'API-Version',
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
const READ = [
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

/**
 * Seconds. The allowed methods and headers rarely change. Some browsers keep them for at most two hours, some for a
 * day.
 */
const MAX_AGE_SECONDS = '7200';

/**
 * Allows scripts of other origins to read the responses (Fetch standard, CORS protocol), without the browser's
 * credentials, because only a token counts. By hand: @koa/cors responds to preflights itself, and knows neither the
 * methods of the route nor its errors.
 * @param list origins as browsers send them, separated by commas; `*` for any; empty for none
 */
export function cors(list: string): Middleware {
  if (list === '') return (_ctx, next) => next();
  const origins = new Set(list.split(',').map((origin) => origin.trim()));
  return async (ctx, next) => {
    ctx.vary('Origin');
    const reader = origins.has('*') ? '*' : ctx.get('Origin');
    if (!origins.has(reader)) return next();
    ctx.set('Access-Control-Allow-Origin', reader);
    ctx.set('Access-Control-Expose-Headers', EXPOSED);
    ctx.state.isPreflight = isPreflight(ctx);
    await next();
    if (ctx.state.isPreflight && ctx.status === 204) allow(ctx);
  };
}

function isPreflight(ctx: Context): boolean {
  const requested = ctx.get('Access-Control-Request-Method');
  return ctx.method === 'OPTIONS' && ctx.get('Origin') !== '' && requested !== '';
}

function allow(ctx: Context): void {
  ctx.set('Access-Control-Allow-Methods', ctx.response.get('Allow'));
  ctx.set('Access-Control-Allow-Headers', READ);
  ctx.set('Access-Control-Max-Age', MAX_AGE_SECONDS);
}
