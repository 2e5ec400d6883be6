import { Readable } from 'node:stream';
import { andThen, catchErrors, type MaybePromise } from '../../../../shared/maybe-promise.js';
import { type ConcurrencyLimits, SMALL_BYTES } from '../core/concurrency-limits.js';
import type { Context, Middleware } from '../core/context.js';

export interface SendingLimits {
  /** The milliseconds that a client has in addition to the time for the bytes. */
  readonly graceMs: number;
  /** The minimum average speed at which the client reads. */
  readonly bytesPerMs: number;
}

/** Koa and this service add ten listeners to a streamed response. Node warns about more than ten by default. */
const MAX_LISTENERS = 20;

/** 30 seconds, and one more for each 32 KiB. */
const DEFAULTS: SendingLimits = { graceMs: 30_000, bytesPerMs: 32.768 };

/**
 * Limits the bytes of responses that clients have not received yet. Lists and writes reserve a permit before they begin,
 * so that nothing is read or written for a response that is then rejected. Other large responses, errors among them,
 * take a permit when their size is known. All permits of a request are released when its response is sent or its
 * connection is closed, but not before its handler has ended, so that a client that disconnects cannot start more work.
 * @throws AppError `unavailable`
 */
export function responseLimits(limits: ConcurrencyLimits): Middleware {
  return (ctx, next) => {
    ctx.state.limits = limits;
    ctx.state.permits = [];
    const respond = () => andThen(next(), () => holdResponse(ctx, limits));
    return andThen(
      catchErrors<unknown>(respond, (error) => {
        ctx.state.responsePermit?.release();
        releaseOnClose(ctx);
        throw error;
      }),
      () => releaseOnClose(ctx),
    );
  };
}

/** Makes the permit of the response as large as its body. An error can be larger than what it was reserved for. */
function holdResponse(ctx: Context, limits: ConcurrencyLimits): MaybePromise<unknown> {
  const bytes = responseBytes(ctx);
  const { responsePermit, errorCode } = ctx.state;
  if (responsePermit && errorCode === undefined) return responsePermit.shrink(bytes);
  responsePermit?.release();
  return bytes > SMALL_BYTES ? limits.acquire(ctx, 'responses', bytes) : undefined;
}

/** Closes the connection of a client that reads a response too slowly. Streams of unknown size have no such limit. */
export function limitSendingTime({ graceMs, bytesPerMs }: SendingLimits = DEFAULTS): Middleware {
  return (ctx, next) =>
    andThen(next(), () => {
      const bytes = responseBytes(ctx);
      if (bytes <= SMALL_BYTES || ctx.res.closed) return;
      const { socket } = ctx.req;
      const timer = setTimeout(() => socket.destroy(), graceMs + bytes / bytesPerMs);
      ctx.res.once('close', () => clearTimeout(timer));
    });
}

function releaseOnClose({ res, state: { permits } }: Context): void {
  const releaseAll = () => {
    for (const permit of permits) permit.release();
  };
  if (permits.length === 0) return;
  if (res.closed) releaseAll();
  else res.setMaxListeners(MAX_LISTENERS).once('close', releaseAll);
}

/** The bytes that the response holds in memory; 0 for a stream of unknown size. */
function responseBytes({ body, method, state, response }: Context): number {
  if (method === 'HEAD') return 0;
  // Koa has counted the bytes of a text.
  if (typeof body === 'string' || Buffer.isBuffer(body)) return response.length ?? 0;
  return body instanceof Readable ? (state.responsePermit?.size ?? 0) : 0;
}
