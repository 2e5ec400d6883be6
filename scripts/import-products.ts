import type { HttpClient } from '../tests/support/http-client.js';
import { LineStream, type ResultLine } from '../tests/support/line-stream.js';
import type { RealProduct } from './debian-packages.js';

/** So many lines are handed to the connection at once. */
const TOGETHER = 200;

/** Sends all products in one request, reads the results meanwhile, and gives them in their order. */
export async function importProducts(
  client: HttpClient,
  products: readonly RealProduct[],
  key: string,
): Promise<ResultLine[]> {
  const stream = new LineStream(client.startLines('/v1/products', { 'Idempotency-Key': key }));
  const results = stream.rest();
  for (let at = 0; at < products.length; at += TOGETHER) {
    const lines = products.slice(at, at + TOGETHER).map((product) => `${JSON.stringify(product)}\n`);
    await stream.send(lines.join(''));
  }
  stream.end();
  const all = await results;
  all.forEach(({ line }, at) => {
    if (line !== at + 1) throw new Error(`line ${line} came where line ${at + 1} was due`);
  });
  if (all.length !== products.length) throw new Error(`${products.length} lines had ${all.length} results`);
  return all;
}
