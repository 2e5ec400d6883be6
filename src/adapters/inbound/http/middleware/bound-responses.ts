import { Readable } from 'node:stream';
import type { Context, Middleware } from '../context.js';
import { SMALL_BYTES, type WorkBounds } from '../work-bounds.js';

export interface SendingLimits {
  /** Milliseconds that a client has to take a response, beside those for its bytes. */
  readonly graceMs: number;
  /** The least average speed at which it must take them. */
  readonly bytesPerMs: number;
}

/** 30 seconds, and one more for each 32 KiB. */
const SENDING: SendingLimits = { graceMs: 30_000, bytesPerMs: 32.768 };

/**
 * Lets a response wait until there is room for it among those that clients have not taken yet. A list makes room before it is
 * read; whatever else is large does when its size is known.
 * @throws CatalogueError `unavailable`
 */
export function boundResponses(bounds: WorkBounds): Middleware {
  return async (ctx, next) => {
    ctx.state.bounds = bounds;
    try {
      await next();
    } catch (error) {
      ctx.state.room?.release();
      throw error;
    }
    // A stream keeps its room: it is made of what was read already.
    if (ctx.body instanceof Readable) return;
    const bytes = wholeBytes(ctx);
    if (ctx.state.room) ctx.state.room.shrinkTo(bytes);
    else if (bytes > SMALL_BYTES) await bounds.take(ctx, 'responses', bytes);
  };
}

/** Ends the connection of a client that takes a response too slowly. Streams end by silence alone. */
export function limitSendingTime({ graceMs, bytesPerMs }: SendingLimits = SENDING): Middleware {
  return async (ctx, next) => {
    await next();
    const bytes = wholeBytes(ctx);
    if (bytes <= SMALL_BYTES) return;
    const timer = setTimeout(() => ctx.req.socket.destroy(), graceMs + bytes / bytesPerMs);
    ctx.res.once('close', () => clearTimeout(timer));
  };
}

/** Of a body that is no stream; 0 of one that is. */
function wholeBytes({ body, method }: Context): number {
  if (method === 'HEAD') return 0;
  if (Buffer.isBuffer(body)) return body.length;
  return typeof body === 'string' ? Buffer.byteLength(body) : 0;
}
