import { randomUUID } from 'node:crypto';
import type { Middleware } from '../context.js';

/** A valid request id. It is also written to the log. */
export const REQUEST_ID = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

/** RFC 9112 section 3.2: a path, or an address in absolute form, of which only the path counts. */
const TARGET = /^(?:https?:\/\/[^/?#]*)?(\/[^#]*)$/i;

/** Sets the id of the request and the API version on every response. */
export const requestId: Middleware = (ctx, next) => {
  // Any other target is no address of this service, and is never parsed as one.
  ctx.req.url = TARGET.exec(ctx.req.url ?? '')?.[1] ?? '*';
  const given = ctx.get('X-Request-Id');
  ctx.state.requestId = REQUEST_ID.test(given) ? given : randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
  ctx.set('API-Version', '1');
  return next();
};
