import { randomUUID } from 'node:crypto';
import type { Middleware } from '../context.js';

/** A valid request id, which is safe to log. */
export const REQUEST_ID = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

/** A request target (RFC 9112 section 3.2): a path, or a URL, whose host is ignored. */
const TARGET = /^(?:https?:\/\/[^/?#]*)?(\/[^#]*)$/i;

/** Sets the id of the request and the API version on every response. */
export const requestId: Middleware = (ctx, next) => {
  // Any other target is not a path of this service and must not be parsed as one.
  ctx.req.url = TARGET.exec(ctx.req.url ?? '')?.[1] ?? '*';
  const sent = ctx.req.headers['x-request-id'];
  ctx.state.requestId = typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
  ctx.set('API-Version', '1');
  return next();
};
