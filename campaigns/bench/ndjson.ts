import { once } from 'node:events';
import { createReadStream, createWriteStream, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { sampleProduct } from '#src/adapters/inbound/cli/seed/sample-product.js';
import type { HttpClient } from '../../tests/support/http-client.js';

const LINE_FEED = 0x0a;
const CREATED = /"status": ?201\b/g;

/** Writes sample products to a file, one on each line. Another seed gives other products with other skus. */
export async function writeSampleProducts(file: string, count: number, seed: number): Promise<void> {
  function* lines() {
    for (let index = 1; index <= count; index++) yield `${JSON.stringify(sampleProduct(seed, index))}\n`;
  }
  await pipeline(lines, createWriteStream(file));
}

/** Sends a file of products in one request. @returns how many the service created */
export async function importFile(client: HttpClient, file: string): Promise<number> {
  const request = client.startLines('/v1/products/imports');
  const responded: Promise<[IncomingMessage]> = once(request, 'response') as Promise<[IncomingMessage]>;
  const [[response]] = await Promise.all([responded, pipeline(createReadStream(file), request)]);
  return createdIn(response);
}

/** @returns how many records the results of an import report as created */
export async function createdIn(response: IncomingMessage): Promise<number> {
  let created = 0;
  let rest = '';
  for await (const text of response.setEncoding('utf8') as AsyncIterable<string>) {
    const complete = (rest + text).lastIndexOf('\n') + 1;
    created += (rest + text).slice(0, complete).match(CREATED)?.length ?? 0;
    rest = (rest + text).slice(complete);
  }
  return created;
}

/** Reads all products in one response. @returns how many lines it has */
export async function exportRecords(
  port: number,
  authorityFile: string,
  key: string,
  accept = 'application/x-ndjson',
): Promise<number> {
  const headers = { Authorization: `Bearer ${key}`, Accept: accept };
  const request = get({
    host: 'localhost',
    port,
    path: '/v1/products',
    ca: readFileSync(authorityFile),
    headers,
  });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`the status of the export is ${response.statusCode}`);
  let records = 0;
  for await (const chunk of response as AsyncIterable<Buffer>)
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) records++;
  return records;
}
