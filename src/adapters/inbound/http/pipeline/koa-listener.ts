import type { RequestListener } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import Koa from 'koa';
import { andThen, catchErrors, type MaybePromise } from '../../../../shared/maybe-promise.js';
import type { Context, Middleware, RequestState } from '../core/context.js';

/** A larger body is sent in slices of this size. */
const SLICE_BYTES = 131_072;

/**
 * Serves requests with Koa's context and a chain of middleware. By hand, because Koa's `callback` makes promises,
 * listeners and copies of headers for every request, which cost more than the rest of the request. Differences:
 * - A middleware runs without a promise until it awaits something: it writes `andThen(next(), …)` instead of `await
 *   next()`, and `catchErrors(next, …)` instead of `try`.
 * - A body is a string, a Buffer, a stream or absent. The handler sets its `Content-Type`.
 * - Errors of a connection are reported only while a stream is sent.
 * @param onError gets each error that the middleware did not handle
 */
export function koaListener(
  chain: readonly Middleware[],
  onError: (error: unknown, ctx: Context) => void,
): RequestListener {
  const app = new Koa<RequestState>();
  app.silent = true;
  app.on('error', onError);
  Object.assign(app.context, { set: setHeaders });
  return (request, response) => {
    const ctx = app.createContext<RequestState>(request, response) as Context;
    response.statusCode = 404;
    const run = (at: number): MaybePromise<void> => chain[at]?.(ctx, () => run(at + 1));
    catchErrors(
      () => andThen(run(0), () => respond(ctx)),
      (error) => ctx.onerror(error as Error),
    );
  };
}

/** Sets headers like Koa's `ctx.set`. */
function setHeaders(this: Context, field: string | Readonly<Record<string, string>>, value?: string): void {
  const { res } = this;
  if (res.headersSent) return;
  if (typeof field === 'string') res.setHeader(field, value ?? '');
  else for (const [name, text] of Object.entries(field)) res.setHeader(name, text);
}

/** The status codes of responses without content (RFC 9110 section 6.4.1). */
function hasNoContent(status: number): boolean {
  return status === 204 || status === 304;
}

function respond(ctx: Context): void {
  const { res, method } = ctx;
  const body = ctx.body as string | Buffer | Readable | null | undefined;
  if (!ctx.writable) res.end();
  else if (body === null || body === undefined || hasNoContent(res.statusCode)) respondWithoutBody(ctx);
  else if (method === 'HEAD') res.end();
  else if (body instanceof Readable) {
    pipeline(body, res, (error) => {
      if (error) ctx.onerror(error);
    });
  } else if (body.length <= SLICE_BYTES) res.end(body);
  else respondInSlices(ctx, typeof body === 'string' ? Buffer.from(body) : body);
}

/** TLS encrypts and copies whatever it is given at once, so a page that is passed on whole is in memory twice. */
function respondInSlices({ res }: Context, body: Buffer): void {
  res.setHeader('Content-Length', body.length);
  const slices = Readable.from(slicesOf(body), { objectMode: false, highWaterMark: SLICE_BYTES });
  // The slices cannot fail. The log of requests reports a client that disconnects, as with `end`.
  pipeline(slices, res, () => {});
}

function* slicesOf(body: Buffer): Generator<Buffer, void, void> {
  for (let at = 0; at < body.length; at += SLICE_BYTES) yield body.subarray(at, at + SLICE_BYTES);
}

function respondWithoutBody({ res }: Context): void {
  res.removeHeader('Content-Type');
  if (hasNoContent(res.statusCode)) res.removeHeader('Content-Length');
  else res.setHeader('Content-Length', 0);
  res.end();
}
