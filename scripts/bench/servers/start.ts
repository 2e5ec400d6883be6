import { readFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { Products } from './products.js';

/** What the command line gives a bare server: CERTIFICATE_FILE PRODUCTS_FILE. */
export function given(): { pair: { cert: string; key: string }; products: Products } {
  const [, , certificateFile = '', productsFile = ''] = process.argv;
  const pem = readFileSync(certificateFile, 'utf8');
  return { pair: { cert: pem, key: pem }, products: new Products(productsFile) };
}

/** Prints the port, for which the benchmark waits. */
export function announce(server: Server): void {
  process.stdout.write(`listens on https://localhost:${(server.address() as AddressInfo).port}\n`);
}
