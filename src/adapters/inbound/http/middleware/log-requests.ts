import type { Clock } from '../../../../application/ports/clock.js';
import type { Journal } from '../../../../application/ports/journal.js';
import type { Middleware } from '../context.js';

/** One line a request, once its answer is sent or its client gone. No query: clients put tokens there. */
export function logRequests(journal: Journal, clock: Clock): Middleware {
  return async (ctx, next) => {
    const started = clock.elapsed();
    ctx.res.once('close', () => {
      journal.info('request', {
        requestId: ctx.state.requestId,
        method: ctx.method,
        route: ctx.state.route ?? 'unknown',
        path: ctx.path.slice(0, 256),
        // Until then Koa's own 404 stands there, which nobody was told.
        status: ctx.headerSent ? ctx.res.statusCode : undefined,
        complete: ctx.res.writableFinished,
        durationMs: Math.round((clock.elapsed() - started) * 1000) / 1000,
        principal: ctx.state.principal?.id,
      });
    });
    await next();
  };
}
