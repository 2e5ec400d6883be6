import { andThen } from '../../../../shared/maybe-promise.js';
import type { Middleware } from '../core/context.js';

/**
 * Closes the connection after the response if the service drains. Also if a client that awaits `100 Continue` gets a
 * final response without it, because it is then unknown whether the body follows (RFC 9110 section 10.1.1).
 */
export function connectionClose(isDraining: () => boolean): Middleware {
  return (ctx, next) =>
    andThen(next(), () => {
      const awaitsContinue = ctx.req.headers.expect !== undefined && !ctx.state.continued;
      if (isDraining() || awaitsContinue) ctx.set('Connection', 'close');
    });
}
