import type { AddressInfo, Server } from 'node:net';

/**
 * @param port 0: any free one
 * @returns the port
 */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}
