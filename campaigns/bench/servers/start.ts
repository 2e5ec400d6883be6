import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
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

/** A head as long as the service's. */
export const HEAD = [
  ...['X-Content-Type-Options', 'nosniff'],
  ...['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Resource-Policy', 'same-origin'],
  ...['X-Request-Id', '8f286c87-c225-4e4c-af10-fa5c7d8e2aea'],
  ...['API-Version', '1'],
  ...['Cache-Control', 'private, no-cache'],
  ...['Vary', 'Accept'],
  ...['RateLimit-Policy', '"default";q=600;w=60'],
  ...['RateLimit', '"default";r=599;t=60'],
];

/** @param fields further names and values of the head */
export function send(response: ServerResponse, status: number, body: string, fields: readonly string[]): void {
  const length = `${Buffer.byteLength(body)}`;
  const content = ['Content-Type', 'application/json', 'Content-Length', length];
  response.writeHead(status, [...HEAD, ...fields, ...content]).end(body);
}
