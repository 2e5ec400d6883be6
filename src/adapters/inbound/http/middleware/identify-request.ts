import { randomUUID } from 'node:crypto';
import type { Middleware } from '../context.js';

const SANE = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

/** Every answer says which request it answers and which version of the interface it speaks. */
export const identifyRequest: Middleware = (ctx, next) => {
  const given = ctx.get('X-Request-Id');
  ctx.state.requestId = SANE.test(given) ? given : randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
  ctx.set('API-Version', '1');
  ctx.set('X-Content-Type-Options', 'nosniff');
  return next();
};
