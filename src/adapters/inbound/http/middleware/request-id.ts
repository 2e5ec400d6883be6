import { randomUUID } from 'node:crypto';
import { redactSecrets } from '../../../../shared/redact.js';
import type { Middleware, RequestState } from '../core/context.js';

/** A valid request id, which is safe to log. */
export const REQUEST_ID = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

/** A request target (RFC 9112 section 3.2): a path, or a URL, whose host is ignored. */
const TARGET = /^(?:https?:\/\/[^/?#]*)?(\/[^#]*)$/i;

/** A user and a password in Base64, as `Authorization: Basic` has them (RFC 7617), decoded. */
const USER_AND_PASSWORD = /^[ -~]+:[ -~]+$/;

/** Sets the id of the request and the API version on every response. */
export const requestId: Middleware = (ctx, next) => {
  // Any other target is not a path of this service and must not be parsed as one.
  ctx.req.url = TARGET.exec(ctx.req.url ?? '')?.[1] ?? '*';
  const sent = ctx.req.headers['x-request-id'];
  ctx.state.requestId = typeof sent === 'string' && isSafe(sent) ? sent : randomUUID();
  ctx.set('X-Request-Id', ctx.state.requestId);
  ctx.set('API-Version', '1');
  return next();
};

/** The ids in each log line about a request, by the names of the access log. */
export function loggedIds({ requestId, trace }: RequestState): Record<string, string> {
  return { requestId, ...(trace && { trace_id: trace.traceId, span_id: trace.spanId }) };
}

/** An id that looks like a credential is replaced: the id is in the log, in the traces and in responses. */
function isSafe(sent: string): boolean {
  if (!REQUEST_ID.test(sent) || redactSecrets(sent) !== sent) return false;
  const [base64, hex] = [decoded(sent, 'base64'), decoded(sent, 'hex')];
  return redactSecrets(base64) === base64 && redactSecrets(hex) === hex && !USER_AND_PASSWORD.test(base64);
}

function decoded(sent: string, encoding: 'base64' | 'hex'): string {
  return Buffer.from(sent, encoding).toString('latin1');
}
