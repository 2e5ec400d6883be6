import { randomUUID } from 'node:crypto';
import type { Middleware } from '../context.js';

/** What may name a request, also in the log. */
export const REQUEST_ID = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

/** RFC 9112 section 3.2: a path, or an address in absolute form, of which the path counts. */
const TARGET = /^(?:https?:\/\/[^/?#]*)?(\/[^#]*)$/i;

/** Every answer says which request it answers and which version of the interface it speaks. */
export const requestId: Middleware = (ctx, next) => {
  // What is neither is no address of this service; no parser of addresses gets to see it.
  ctx.req.url = TARGET.exec(ctx.req.url ?? '')?.[1] ?? '*';
  const given = ctx.get('X-Request-Id');
  ctx.state.requestId = REQUEST_ID.test(given) ? given : randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
  ctx.set('API-Version', '1');
  return next();
};
