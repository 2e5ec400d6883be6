import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { closeIdleConnections, connectionOf, connectionsOf } from './connection.js';

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
  const open = connectionsOf(server);
  server.on('connection', (socket: Socket) => {
    if (open.size >= max) closeIdleConnections(server);
    if (open.size > max || connectionOf(socket).peer.connections > maxPerAddress) socket.destroy();
  });
}
