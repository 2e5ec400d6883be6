import { once } from 'node:events';
import type { Server } from 'node:http';

/** Ends a server with all its connections. */
export async function endServer(
  server: Pick<Server, 'close' | 'closeAllConnections'> & NodeJS.EventEmitter,
): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
