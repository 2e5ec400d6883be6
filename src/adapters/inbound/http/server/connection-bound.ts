import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';

/**
 * Serves at most so many connections at once, so that a flood of them costs a bounded amount of memory. Near the bound
 * those that are kept without a request make room; what still comes beyond it is closed. `server.maxConnections` would
 * have the primary of several workers pass a connection round and round among those that are full.
 */
export function boundConnections(server: HttpServer | HttpsServer, most: number): void {
  let open = 0;
  server.on('connection', (socket: Socket) => {
    if (open + 1 >= most) server.closeIdleConnections();
    if (open >= most) {
      socket.destroy();
      return;
    }
    open++;
    socket.once('close', () => {
      open--;
    });
  });
}
