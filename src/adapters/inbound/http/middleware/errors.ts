import type { Logger } from '../../../../application/ports/logger.js';
import { catchErrors } from '../../../../shared/maybe-promise.js';
import type { Context, Middleware } from '../core/context.js';
import { errorResponse, problemResponse, toCodedError } from '../core/http-error.js';
import { JSON_UTF8, PROBLEM } from '../core/media-types.js';
import { preferredType } from './negotiation.js';
import { loggedIds } from './observe.js';

/**
 * Turns every thrown error into a response. Keeps the headers that are already set.
 * @param prepare sets headers for an error first
 */
export function errors(
  logger: Logger,
  prepare: (ctx: Context, error: unknown) => void = () => {},
): Middleware {
  return (ctx, next) =>
    catchErrors(next, (thrown) => {
      prepare(ctx, thrown);
      const error = toCodedError(thrown);
      ctx.state.errorCode = error.code;
      if (error.cause !== undefined)
        logger.error(error.code, { ...loggedIds(ctx.state), error: error.cause });
      const { status, headers, body } = wantsProblem(ctx) ? problemResponse(error) : errorResponse(error);
      ctx.remove('Link');
      // The body that was compressed is not sent.
      ctx.remove('Content-Encoding');
      // A 404 does not reveal the methods of the resource.
      if (error.code === 'not_found') ctx.remove('Accept-Patch');
      ctx.set(headers);
      ctx.vary('Accept');
      ctx.status = status;
      ctx.body = body;
    });
}

const preferred = preferredType([JSON_UTF8, PROBLEM]);

function wantsProblem(ctx: Context): boolean {
  return preferred(ctx) === PROBLEM;
}
