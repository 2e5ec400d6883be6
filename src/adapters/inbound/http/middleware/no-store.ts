import type { Middleware } from '../context.js';

/** Forbids caching by default. A handler can override it. */
export const noStore: Middleware = (ctx, next) => {
  ctx.set('Cache-Control', 'no-store');
  return next();
};
