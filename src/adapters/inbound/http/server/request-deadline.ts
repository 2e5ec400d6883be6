import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Of a connection the request that has none; the one behind it may have come before this one is closed. */
const lifted = new WeakMap<Socket, IncomingMessage>();

/**
 * Lets a request take as long as its bytes keep coming. The server's `requestTimeout` is one for all its requests: when it
 * runs out for this one, that is let pass; Node tells it once for a request. Silence ends it still.
 */
export function liftDeadline(request: IncomingMessage): void {
  const { socket } = request;
  lifted.set(socket, request);
  request.once('close', () => {
    if (lifted.get(socket) === request) lifted.delete(socket);
  });
}

/** Whether this error is of the deadline of a request that has none. */
export function isOfLiftedDeadline(error: NodeJS.ErrnoException, socket: Socket): boolean {
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && lifted.has(socket);
}
