import type { Clock } from '../../../../application/ports/clock.js';
import type { RequestEntry, RequestObserver } from '../../../../application/ports/request-observer.js';
import type { Context, Middleware } from '../context.js';

/**
 * Tells the observers of each request: when it arrives, and when the response is sent or the client has disconnected.
 */
export function observeRequests(observers: readonly RequestObserver[], clock: Clock): Middleware {
  return (ctx, next) => {
    const started = clock.elapsed();
    for (const observer of observers) observer.begin?.();
    ctx.res.once('close', () => {
      const entry = requestEntry(ctx, clock.elapsed() - started);
      for (const observer of observers) observer.end(entry);
    });
    return next();
  };
}

/** The query is omitted, because clients put tokens there. */
function requestEntry(ctx: Context, durationMs: number): RequestEntry {
  const { res, state } = ctx;
  return {
    requestId: state.requestId,
    method: ctx.method,
    route: state.route ?? 'unknown',
    version: state.version?.number,
    path: decodedAscii(ctx.path).slice(0, 256),
    // Before the headers are sent, the status is Koa's default 404.
    status: res.headersSent ? res.statusCode : undefined,
    complete: res.writableFinished,
    durationMs: Math.round(durationMs * 1000) / 1000,
    principal: state.principal?.id,
    errorCode: state.errorCode,
    isDeprecated: state.version?.deprecation !== undefined,
    replays: state.replays ?? 0,
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
