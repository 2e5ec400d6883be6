import type { AddressInfo, Server } from 'node:net';
import { getSystemErrorMap } from 'node:util';

/**
 * Starts to listen.
 * @param port 0: any free port
 * @returns the port
 * @throws Error with a message for a person, the same for one process and for several that share the port
 */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const [, why = error.message] = getSystemErrorMap().get(error.errno ?? 0) ?? [];
      reject(new Error(`It cannot listen on ${host}:${port}: ${why} (${error.code}).`, { cause: error }));
    });
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}
