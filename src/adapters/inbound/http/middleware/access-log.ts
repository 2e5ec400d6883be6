import type { Clock } from '../../../../application/ports/clock.js';
import type { Logger } from '../../../../application/ports/logger.js';
import type { Middleware } from '../context.js';

/**
 * Logs one line per request, when the response is sent or the client is gone. Without the query, because clients put
 * tokens there.
 */
export function accessLog(logger: Logger, clock: Clock): Middleware {
  return async (ctx, next) => {
    const started = clock.elapsed();
    ctx.res.once('close', () => {
      logger.info('request', {
        requestId: ctx.state.requestId,
        method: ctx.method,
        route: ctx.state.route ?? 'unknown',
        path: plain(ctx.path).slice(0, 256),
        // Before that, the status is Koa's default 404, which nobody has received.
        status: ctx.headerSent ? ctx.res.statusCode : undefined,
        complete: ctx.res.writableFinished,
        durationMs: Math.round((clock.elapsed() - started) * 1000) / 1000,
        principal: ctx.state.principal?.id,
      });
    });
    await next();
  };
}

/** At most this many layers of percent-encoding are removed. */
const MAX_LAYERS = 5;

/** The path with its ASCII characters unescaped, because the log redacts secrets by their appearance. */
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
