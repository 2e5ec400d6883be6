import type { Middleware } from '../context.js';

/** Whatever is not marked otherwise is kept by no cache. */
export const noStore: Middleware = (ctx, next) => {
  ctx.set('Cache-Control', 'no-store');
  return next();
};
