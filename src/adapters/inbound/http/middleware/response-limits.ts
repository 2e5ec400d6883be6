import { Readable } from 'node:stream';
import type { Context, Middleware } from '../context.js';
import { SMALL_BYTES, type WorkLimits } from '../work-limits.js';

export interface SendingLimits {
  /** Milliseconds that a client has to take a response, beside the time for its bytes. */
  readonly graceMs: number;
  /** The minimum average speed of the client. */
  readonly bytesPerMs: number;
}

/** A streamed response has ten listeners already, of Koa and of this service. Node warns beyond ten. */
const MAX_LISTENERS = 20;

/** 30 seconds, and one more for each 32 KiB. */
const SENDING: SendingLimits = { graceMs: 30_000, bytesPerMs: 32.768 };

/**
 * Makes a response wait until there is room for it among those that clients have not taken yet. A list and a write
 * reserve room before they begin, so that nothing is read or written for a response that is refused. Other large
 * responses take room when their size is known. A request releases its shares when its work is done and its response
 * is taken or its connection is gone.
 * @throws AppError `unavailable`
 */
export function responseLimits(limits: WorkLimits): Middleware {
  return async (ctx, next) => {
    ctx.state.limits = limits;
    ctx.state.shares = [];
    try {
      await next();
      const bytes = heldBytes(ctx);
      if (ctx.state.room) ctx.state.room.shrinkTo(bytes);
      else if (bytes > SMALL_BYTES) await limits.take(ctx, 'responses', bytes);
    } catch (error) {
      ctx.state.room?.release();
      throw error;
    } finally {
      releaseOnceClosed(ctx);
    }
  };
}

/** Closes the connection of a client that takes a response too slowly. Streams of unknown size end only by silence. */
export function limitSendingTime({ graceMs, bytesPerMs }: SendingLimits = SENDING): Middleware {
  return async (ctx, next) => {
    await next();
    const bytes = heldBytes(ctx);
    if (bytes <= SMALL_BYTES || ctx.res.closed) return;
    const { socket } = ctx.req;
    const timer = setTimeout(() => socket.destroy(), graceMs + bytes / bytesPerMs);
    ctx.res.once('close', () => clearTimeout(timer));
  };
}

function releaseOnceClosed({ res, state: { shares } }: Context): void {
  const release = () => {
    for (const share of shares) share.release();
  };
  if (shares.length === 0) return;
  if (res.closed) release();
  else res.setMaxListeners(MAX_LISTENERS).once('close', release);
}

/** The bytes that are held for the response; 0 for a stream of unknown size. */
function heldBytes({ body, method, state }: Context): number {
  if (method === 'HEAD') return 0;
  if (body instanceof Readable) return state.room?.size ?? 0;
  if (Buffer.isBuffer(body)) return body.length;
  return typeof body === 'string' ? Buffer.byteLength(body) : 0;
}
