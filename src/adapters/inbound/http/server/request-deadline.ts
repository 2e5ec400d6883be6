import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Of a connection the request that has none; the one behind it may have come before this one is closed. */
const lifted = new WeakMap<Socket, IncomingMessage>();
/** The timer of a request whose deadline was postponed, once its time runs. */
const postponed = new WeakMap<IncomingMessage, NodeJS.Timeout | undefined>();

/**
 * Lets a request take as long as its bytes keep coming. The server's `requestTimeout` is one for all its requests: when it
 * runs out for this one, that is let pass; Node tells it once for a request. Silence ends it still.
 */
export function liftDeadline(request: IncomingMessage): void {
  clearTimeout(postponed.get(request));
  const { socket } = request;
  lifted.set(socket, request);
  request.once('close', () => {
    if (lifted.get(socket) === request) lifted.delete(socket);
  });
}

/** Has the time of a request run from {@link startPostponedDeadline} on, and not from its first byte. */
export function postponeDeadline(request: IncomingMessage): void {
  liftDeadline(request);
  postponed.set(request, undefined);
}

/**
 * Does nothing for a request whose deadline was not postponed.
 * @param expire called when the request is still not complete after so many milliseconds
 */
export function startPostponedDeadline(request: IncomingMessage, ms: number, expire: () => void): void {
  if (!postponed.has(request) || request.complete) return;
  const timer = setTimeout(() => {
    if (!request.complete) expire();
  }, ms);
  postponed.set(request, timer.unref());
  request.once('close', () => clearTimeout(timer));
}

/** Whether this error is of the deadline of a request that has none. */
export function isOfLiftedDeadline(error: NodeJS.ErrnoException, socket: Socket): boolean {
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && lifted.get(socket)?.complete === false;
}
