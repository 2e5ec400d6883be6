import type { Clock } from '../../../../application/ports/clock.js';
import type { Logger } from '../../../../application/ports/logger.js';
import type { Middleware } from '../context.js';

/**
 * Logs one line per request, when the response is sent or the client has disconnected. The query is omitted, because
 * clients put tokens there.
 */
export function accessLog(logger: Logger, clock: Clock): Middleware {
  return (ctx, next) => {
    const started = clock.elapsed();
    ctx.res.once('close', () => {
      const { res, state } = ctx;
      logger.request({
        requestId: state.requestId,
        method: ctx.method,
        route: state.route ?? 'unknown',
        path: decodedAscii(ctx.path).slice(0, 256),
        // Before the headers are sent, the status is Koa's default 404.
        status: res.headersSent ? res.statusCode : undefined,
        complete: res.writableFinished,
        durationMs: Math.round((clock.elapsed() - started) * 1000) / 1000,
        principal: state.principal?.id,
      });
    });
    return next();
  };
}

/** The maximum number of percent-encoding layers to remove. */
const MAX_LAYERS = 5;

/** The path with its ASCII characters decoded, because the log recognises secrets by their format. */
function decodedAscii(path: string): string {
  let decoded = path;
  for (let layer = 0; layer < MAX_LAYERS && decoded.includes('%'); layer++)
    decoded = decoded.replaceAll(/%([0-7][0-9a-f])/gi, (_, code) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
  return decoded;
}
