import type { Context, Middleware } from '../context.js';

/** What the contract names of an answer, but for what scripts see anyway (Fetch standard, CORS-safelisted response-header name). */
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

/** What the service reads of a request. */
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

/** What is allowed hardly changes; browsers keep it for two hours at the most, some for a day. */
const KEPT_SECONDS = '7200';

/**
 * Lets scripts of other origins read the answers (Fetch standard, CORS protocol). Never with the browser's credentials:
 * a token is all that counts here.
 * @param list origins as browsers send them, separated by commas; `*` for any; empty for none, as if there were no CORS
 */
export function shareAcrossOrigins(list: string): Middleware {
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
  const asked = ctx.get('Access-Control-Request-Method');
  return ctx.method === 'OPTIONS' && ctx.get('Origin') !== '' && asked !== '';
}

function allow(ctx: Context): void {
  ctx.set('Access-Control-Allow-Methods', ctx.response.get('Allow'));
  ctx.set('Access-Control-Allow-Headers', READ);
  ctx.set('Access-Control-Max-Age', KEPT_SECONDS);
}
