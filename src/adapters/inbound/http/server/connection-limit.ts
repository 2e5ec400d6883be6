import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { networkOf, parseAddress } from './ip-address.js';

export interface ConnectionLimits {
  /** The limit of all clients together. */
  readonly most: number;
  /**
   * The limit of one address, or of the /64 of an IPv6 address. Below the other, so that one client never holds all.
   */
  readonly mostPerAddress: number;
}

/**
 * Limits the number of connections, so that a flood of them costs a bounded amount of memory. Near the limit, idle
 * connections are closed to make room; beyond it, new ones are closed. By hand: with `server.maxConnections` the
 * primary of several workers would pass a connection round and round among full workers.
 */
export function boundConnections(
  server: HttpServer | HttpsServer,
  { most, mostPerAddress }: ConnectionLimits,
): void {
  let open = 0;
  const openByAddress = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = networkOf(parseAddress(socket.remoteAddress));
    const ofAddress = openByAddress.get(address) ?? 0;
    if (open + 1 >= most) server.closeIdleConnections();
    if (open >= most || ofAddress >= mostPerAddress) {
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
