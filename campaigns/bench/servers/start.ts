import { readFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { Products } from './products.js';

/** The first argument of every bare server: a file with the certificate and its key. */
export function certificate(): { cert: string; key: string } {
  const [, , file = ''] = process.argv;
  const pem = readFileSync(file, 'utf8');
  return { cert: pem, key: pem };
}

/** The second argument: a file with the products. */
export function productsInMemory(): Products {
  const [, , , file = ''] = process.argv;
  return new Products(file);
}

/** Prints the port, for which the benchmark waits. */
export function announce(server: Server): void {
  process.stdout.write(`listens on https://localhost:${(server.address() as AddressInfo).port}\n`);
}
