/**
 * Imports 1,000,000 products as NDJSON and as many as CSV, imports them by SKU unchanged and with another price, and
 * exports all of them in both formats. Prints records per second and the memory of the service, and fails if a record is
 * missing.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import { figuresOf } from '../../tests/support/figure.js';
import type { HttpClient } from '../../tests/support/http-client.js';
import { CREATED, exportRecords, FOUND, resultsIn, UNCHANGED } from '../bench/ndjson.js';
import { ResidentMemory } from '../bench/resident-memory.js';

const PRODUCTS = Number(process.argv[2] ?? 1_000_000);
const CHUNK = 500;
const figure = figuresOf('large-csv');

const NDJSON = 'application/x-ndjson';
const CSV = 'text/csv';
const DESCRIPTION = 'Brass, with a "shade" of linen. '.repeat(5);

const FORMATS = {
  [NDJSON]: {
    head: '',
    line: (at: number, price: number) =>
      `${JSON.stringify({
        name: `Lamp ${at}`,
        description: DESCRIPTION,
        sku: `N-${at}`,
        price: { amount: price, currency: 'EUR' },
        attributes: { watts: 7.5 },
      })}\n`,
  },
  [CSV]: {
    head: 'name,description,sku,price.amount,price.currency,attributes\r\n',
    line: (at: number, price: number) =>
      `Lamp ${at},"${DESCRIPTION.replaceAll('"', '""')}",C-${at},${price},EUR,"{""watts"":7.5}"\r\n`,
  },
} as const;

/** What is imported one after the other. */
const NIGHTS = [
  { what: 'import', query: '', price: 1, counted: CREATED },
  { what: 'unchanged import by SKU', query: '?match=sku', price: 1, counted: UNCHANGED },
  { what: 'changed import by SKU', query: '?match=sku', price: 2, counted: FOUND },
] as const;

const folder = mkdtempSync(join(tmpdir(), 'large-csv-'));
const service = new ChildProcessService(folder, { LOG_LEVEL: 'error' });
try {
  const client = await service.started();
  for (const type of [NDJSON, CSV] as const)
    for (const night of NIGHTS)
      await measure(`${night.what} of ${type}`, PRODUCTS, () => importAll(client, type, night));
  const authority = join(folder, 'data', 'tls', 'ca.pem');
  const exported = (type: string) => exportRecords(client.port, authority, service.firstKey, type);
  await measure(`export of ${NDJSON}`, 2 * PRODUCTS, () => exported(NDJSON));
  // The header row is no record.
  await measure(`export of ${CSV}`, 2 * PRODUCTS, async () => (await exported(CSV)) - 1);
  client.close();
} finally {
  await service.stop();
  rmSync(folder, { recursive: true });
}

/** @returns how many results count */
async function importAll(
  client: HttpClient,
  type: keyof typeof FORMATS,
  { query, price, counted }: (typeof NIGHTS)[number],
): Promise<number> {
  const { head, line } = FORMATS[type];
  const request = client.startLines(`/v1/products/imports${query}`, { 'Content-Type': type });
  const results = once(request, 'response').then(([response]) => resultsIn(response, counted));
  request.write(head);
  for (let at = 0; at < PRODUCTS; at += CHUNK) {
    const lines = Array.from({ length: Math.min(CHUNK, PRODUCTS - at) }, (_, next) => line(at + next, price));
    if (!request.write(lines.join(''))) await once(request, 'drain');
  }
  request.end();
  return results;
}

async function measure(what: string, expected: number, transfer: () => Promise<number>): Promise<void> {
  const memory = new ResidentMemory(service.pid);
  const started = performance.now();
  const records = await transfer();
  const seconds = (performance.now() - started) / 1_000;
  const { start, max } = memory.read();
  figure(`${what}, records`, records / seconds, 'per s');
  figure(`${what}, more memory`, max - start, 'MiB');
  if (records !== expected) throw new Error(`${what}: ${records} records instead of ${expected}`);
}
