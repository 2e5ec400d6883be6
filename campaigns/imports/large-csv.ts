/**
 * Imports 1,000,000 products as NDJSON and as many as CSV, and exports all of them in both formats. Prints records per
 * second and the memory of the service, and fails if a record is missing.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import { figuresOf } from '../../tests/support/figure.js';
import type { HttpClient } from '../../tests/support/http-client.js';
import { createdIn, exportRecords } from '../bench/ndjson.js';
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
    line: (at: number) =>
      `${JSON.stringify({
        name: `Lamp ${at}`,
        description: DESCRIPTION,
        sku: `N-${at}`,
        price: { amount: at, currency: 'EUR' },
        attributes: { watts: 7.5 },
      })}\n`,
  },
  [CSV]: {
    head: 'name,description,sku,price.amount,price.currency,attributes\r\n',
    line: (at: number) =>
      `Lamp ${at},"${DESCRIPTION.replaceAll('"', '""')}",C-${at},${at},EUR,"{""watts"":7.5}"\r\n`,
  },
} as const;

const folder = mkdtempSync(join(tmpdir(), 'large-csv-'));
const service = new ChildProcessService(folder, { LOG_LEVEL: 'error' });
try {
  const client = await service.started();
  for (const type of [NDJSON, CSV] as const)
    await measure(`import of ${type}`, PRODUCTS, () => importAll(client, type));
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

/** @returns how many records were created */
async function importAll(client: HttpClient, type: keyof typeof FORMATS): Promise<number> {
  const { head, line } = FORMATS[type];
  const request = client.startLines('/v1/products/imports', { 'Content-Type': type });
  const created = once(request, 'response').then(([response]) => createdIn(response));
  request.write(head);
  for (let at = 0; at < PRODUCTS; at += CHUNK) {
    const lines = Array.from({ length: Math.min(CHUNK, PRODUCTS - at) }, (_, next) => line(at + next));
    if (!request.write(lines.join(''))) await once(request, 'drain');
  }
  request.end();
  return created;
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
