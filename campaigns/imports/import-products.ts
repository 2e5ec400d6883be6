import type { HttpClient } from '../../tests/support/http-client.js';
import { LineStream, type ResultLine } from '../../tests/support/line-stream.js';
import type { RealProduct } from './debian-packages.js';

/** The number of lines that are handed to the connection at once. */
const CHUNK = 200;

/**
 * Sends all products in one request and reads the results meanwhile. Returns the results in order.
 * @param how the key of the stream, or the query
 */
export async function importProducts(
  client: HttpClient,
  products: readonly RealProduct[],
  { key, query = '' }: { readonly key?: string; readonly query?: string },
): Promise<ResultLine[]> {
  const headers = key === undefined ? {} : { 'Idempotency-Key': key };
  const stream = new LineStream(client.startLines(`/v1/products/imports${query}`, headers));
  const results = stream.rest();
  for (let at = 0; at < products.length; at += CHUNK) {
    const lines = products.slice(at, at + CHUNK).map((product) => `${JSON.stringify(product)}\n`);
    await stream.send(lines.join(''));
  }
  stream.end();
  const all = await results;
  all.forEach(({ line }, at) => {
    if (line !== at + 1) throw new Error(`got the result of line ${line} instead of line ${at + 1}`);
  });
  if (all.length !== products.length) throw new Error(`${products.length} lines had ${all.length} results`);
  return all;
}
