import type { Clock } from '../../../../application/ports/clock.js';
import type { Observer, RemoteSpan, RequestEntry } from '../../../../application/ports/observer.js';
import type { Context, Middleware, RequestState } from '../core/context.js';

export interface ObservationOptions {
  readonly observers: readonly Observer[];
  readonly clock: Clock;
  readonly routes: readonly { readonly template: string }[];
}

/** Tells the observers of each request: when it arrives, and when the response is sent or the client has disconnected. */
export function observe({ observers, clock, routes }: ObservationOptions): Middleware {
  const words = new Set(routes.flatMap(({ template }) => template.split('/')));
  return (ctx, next) => {
    const started = clock.elapsed();
    const { req, res, state } = ctx;
    // After a disconnection the response has no socket any more.
    const { socket } = req;
    const writtenBefore = socket.bytesWritten;
    const parent = parseTraceparent(req.headers['traceparent']);
    const observed = observers.map((observer) => observer.request?.(ctx.method, parent));
    const traced = observed.find((request) => request?.span);
    state.trace = traced?.span ?? parent;
    res.once('close', () => {
      const durationMs = Math.round((clock.elapsed() - started) * 1000) / 1000;
      const responseBytes = socket.bytesWritten - writtenBefore;
      const entry = requestEntry(ctx, { durationMs, responseBytes, words });
      for (const request of observed) request?.end(entry);
    });
    return traced?.run ? traced.run(next) : next();
  };
}

interface Measured extends Pick<RequestEntry, 'durationMs' | 'responseBytes'> {
  /** The segments of all routes. */
  readonly words: ReadonlySet<string>;
}

/** The ids in each log line about a request, by the names of the access log. */
export function loggedIds({ requestId, trace }: RequestState): Record<string, string> {
  return { requestId, ...(trace && { trace_id: trace.traceId, span_id: trace.spanId }) };
}

/** The query is omitted, because clients put tokens there. */
function requestEntry(ctx: Context, { durationMs, responseBytes, words }: Measured): RequestEntry {
  const { res, state } = ctx;
  return {
    requestId: state.requestId,
    trace: state.trace,
    method: ctx.method,
    route: state.route ?? 'unknown',
    version: state.version?.number,
    path: loggedPath(ctx, words),
    // Before the headers are sent, the status is Koa's default 404.
    status: res.headersSent ? res.statusCode : undefined,
    complete: res.writableFinished,
    durationMs,
    waitedMs: state.waitedMs,
    responseBytes,
    principal: state.principal?.id,
    errorCode: state.errorCode,
    isDeprecated: state.version?.deprecation !== undefined,
    replays: state.replays ?? 0,
  };
}

/** The path of a route holds words and ids alone, or a key, in whose place the log has the template. */
function loggedPath({ path, state }: Context, words: ReadonlySet<string>): string {
  if (state.route === undefined) return knownWords(path, words);
  return state.pathKey === undefined ? path : state.route;
}

/** A path that no route has may hold a secret in any encoding: the first segments, each a word of the API or `*`. */
function knownWords(path: string, words: ReadonlySet<string>): string {
  const segments = path.split('/', MAX_SEGMENTS + 1);
  return segments.map((segment) => (words.has(segment) ? segment : '*')).join('/');
}

const MAX_SEGMENTS = 8;

/** Version, trace id, span id, flags, and in versions after 00 perhaps more (W3C Trace Context, section 3.2). */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;

/**
 * Returns the span that `traceparent` names. Undefined if the header is absent or malformed, which repeated headers
 * are. `tracestate` is ignored: the service calls no other service that could read it.
 */
export function parseTraceparent(header: string | readonly string[] | undefined): RemoteSpan | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  if (version === '00' && rest !== undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags ?? '', 16) & SAMPLED) === SAMPLED };
}
