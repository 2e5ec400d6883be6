import type { Clock } from '../../../../application/ports/clock.js';
import type { Journal } from '../../../../application/ports/journal.js';
import type { Middleware } from '../context.js';

/** One line a request, once its answer is sent or its client gone. No query: clients put tokens there. */
export function accessLog(journal: Journal, clock: Clock): Middleware {
  return async (ctx, next) => {
    const started = clock.elapsed();
    ctx.res.once('close', () => {
      journal.info('request', {
        requestId: ctx.state.requestId,
        method: ctx.method,
        route: ctx.state.route ?? 'unknown',
        path: plain(ctx.path).slice(0, 256),
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

/** So often may a path be percent-encoded again. */
const MAX_LAYERS = 5;

/** With its ASCII characters unescaped: what is masked in a log is found by how it looks. */
function plain(path: string): string {
  let [before, after] = ['', path];
  for (let layer = 0; layer < MAX_LAYERS && after !== before; layer++) {
    before = after;
    after = before.replaceAll(/%([0-7][0-9a-f])/gi, (_, code) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
  }
  return after;
}
