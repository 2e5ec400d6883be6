import { randomUUID } from 'node:crypto';
import { andThen } from '../../../../shared/maybe-promise.js';
import type { Context, Middleware } from '../core/context.js';

/**
 * Forbids caching by default. A handler can override it: then a response that shared caches may keep says nothing of the
 * client that asked.
 */
export const noStore: Middleware = (ctx, next) => {
  ctx.set('Cache-Control', 'no-store');
  return andThen(next(), () => {
    if (String(ctx.res.getHeader('Cache-Control')).startsWith('public')) hideClient(ctx);
  });
};

function hideClient(ctx: Context): void {
  ctx.remove('RateLimit');
  ctx.remove('RateLimit-Policy');
  if (ctx.req.headers['x-request-id'] === undefined) return;
  ctx.state.requestId = randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
}
