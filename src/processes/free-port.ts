import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/**
 * A port that is free now. Workers ask for it by its number, since the one that PORT=0 finds is let go, and not found
 * again, when all of them have died.
 */
export async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
