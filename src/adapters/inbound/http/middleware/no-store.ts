import type { Middleware } from '../context.js';

/** By default no cache keeps a response. */
export const noStore: Middleware = (ctx, next) => {
  ctx.set('Cache-Control', 'no-store');
  return next();
};
