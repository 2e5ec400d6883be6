import type { Middleware } from '../context.js';

/**
 * Ends the connection with the answer while the service drains, and where a client that awaits `100 Continue` was
 * answered without it: whether its body follows is then anyone's guess (RFC 9110 section 10.1.1).
 */
export function connectionClose(isDraining: () => boolean): Middleware {
  return async (ctx, next) => {
    await next();
    const awaitsContinue = ctx.get('Expect') !== '' && !ctx.state.continued;
    if (isDraining() || awaitsContinue) ctx.set('Connection', 'close');
  };
}
