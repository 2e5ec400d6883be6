import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { peerNetwork } from './ip-address.js';
import { closerOfIdleConnections } from './node-workarounds.js';

export interface ConnectionLimits {
  /** The limit of all clients together. */
  readonly max: number;
  /** The limit of one IPv4 address or the /64 of an IPv6 address, so that one client cannot use all connections. */
  readonly maxPerAddress: number;
}

/**
 * Limits the number of connections, and so the memory that a flood of them takes. Near the limit, idle connections are
 * closed. At the limit, new connections are closed. By hand: with `server.maxConnections`, the primary process would
 * pass a connection from one full worker to the next without end.
 */
export function limitConnections(
  server: HttpServer | HttpsServer,
  { max, maxPerAddress }: ConnectionLimits,
): void {
  const closeIdle = closerOfIdleConnections(server);
  let open = 0;
  const openByAddress = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = peerNetwork(socket);
    const ofAddress = openByAddress.get(address) ?? 0;
    if (open + 1 >= max) closeIdle();
    if (open >= max || ofAddress >= maxPerAddress) {
      socket.destroy();
      return;
    }
    open++;
    openByAddress.set(address, ofAddress + 1);
    socket.once('close', () => {
      open--;
      const left = (openByAddress.get(address) ?? 0) - 1;
      if (left > 0) openByAddress.set(address, left);
      else openByAddress.delete(address);
    });
  });
}
