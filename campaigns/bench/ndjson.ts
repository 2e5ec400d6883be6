import { once } from 'node:events';
import { createReadStream, createWriteStream, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { sampleProduct } from '#src/adapters/inbound/cli/samples.js';
import type { HttpClient } from '../../tests/support/http-client.js';

const LINE_FEED = 0x0a;

/** The results of an import that count. */
export const CREATED = /"status": ?201\b/g;
export const UNCHANGED = /"unchanged": ?true\b/g;
/** Also those that leave their record as it is. */
export const FOUND = /"status": ?200\b/g;

type SampleProduct = ReturnType<typeof sampleProduct>;

/**
 * Writes sample products to a file, one on each line. Another seed gives other products with other skus.
 * @param changed returns what is written of a product
 */
export async function writeSampleProducts(
  file: string,
  count: number,
  seed: number,
  changed = (product: SampleProduct, _index: number): SampleProduct => product,
): Promise<void> {
  function* lines() {
    for (let index = 1; index <= count; index++)
      yield `${JSON.stringify(changed(sampleProduct(seed, index), index))}\n`;
  }
  await pipeline(lines, createWriteStream(file));
}

/**
 * Sends a file of products in one request.
 * @param query of the import
 * @returns how many results count, by default those of created products
 */
export async function importFile(client: HttpClient, file: string, query = '', counted = CREATED): Promise<number> {
  const request = client.startLines(`/v1/products/imports${query}`);
  const responded: Promise<[IncomingMessage]> = once(request, 'response') as Promise<[IncomingMessage]>;
  const [[response]] = await Promise.all([responded, pipeline(createReadStream(file), request)]);
  return resultsIn(response, counted);
}

/** @returns how many results of an import count */
export async function resultsIn(response: IncomingMessage, counted: RegExp): Promise<number> {
  let count = 0;
  let rest = '';
  for await (const text of response.setEncoding('utf8') as AsyncIterable<string>) {
    const complete = (rest + text).lastIndexOf('\n') + 1;
    count += (rest + text).slice(0, complete).match(counted)?.length ?? 0;
    rest = (rest + text).slice(complete);
  }
  return count;
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
