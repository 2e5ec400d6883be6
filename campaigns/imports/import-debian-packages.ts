/**
 * Creates every Debian package as a product in a running service, restarts the service in between, and checks that each
 * product exists exactly once and unchanged. First it sends them one by one, then all in one import, which it repeats.
 * Then it exports them as CSV, imports that into an empty store, and compares the exports of both byte for byte. At last
 * it imports them by SKU as on four nights: new, a tenth changed, all changed, none changed.
 * Run `apt-get update` first, then `npm run suite debian-packages`; `-- --packages 8000` takes the first 8,000.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { integer, options } from '../../scripts/options.js';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import type { HttpClient } from '../../tests/support/http-client.js';
import type { ResultLine } from '../../tests/support/line-stream.js';
import { linksOf } from '../../tests/support/links.js';
import { memoryOf } from '../bench/resident-memory.js';
import { debianPackages, type RealProduct } from './debian-packages.js';
import { importProducts } from './import-products.js';
import { NightlyCatalogue } from './nightly-catalogue.js';

const CLIENTS = 16;

type ProductsById = Map<number, RealProduct>;

const most = integer('packages', options({ packages: '1000000' }).packages, 1_000, 1_000_000);
const products: RealProduct[] = [];
for await (const product of debianPackages()) if (products.length < most) products.push(product);
print(`${products.length} packages`);

let service: ChildProcessService;
await withService(oneByOne);
await withService(allTogether);
let exported: Exports;
await withService(async (client) => {
  await importAll(client, 'created');
  exported = await exportsOf(client);
  client.close();
});
await withService(importCsv);
await withService(fourNights);

/** Starts a service with an empty store. */
async function withService(use: (client: HttpClient, key: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'real-products-'));
  service = new ChildProcessService(folder, { LOG_LEVEL: 'error' });
  try {
    await use(await service.started(), service.firstKey);
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true });
  }
}

async function oneByOne(first: HttpClient, key: string): Promise<void> {
  let client = first;
  const created: ProductsById = new Map();
  const refused = new Map<string, number>();
  const half = Math.ceil(products.length / 2);
  await createAll(client, products.slice(0, half), created, refused);
  client = await restart(key);
  await createAll(client, products.slice(half), created, refused);
  client = await restart(key);
  await compare(client, created);
  client.close();

  print(`created ${created.size}, refused ${JSON.stringify(Object.fromEntries(refused))}`);
  if (created.size === 0 || created.size + [...refused.values()].reduce((a, b) => a + b, 0) !== products.length) {
    throw new Error('not every package was created or refused');
  }
}

async function allTogether(first: HttpClient, key: string): Promise<void> {
  const results = await importAll(first, 'created');
  const created: ProductsById = new Map();
  results.forEach(({ status, id, error, replayed }, at) => {
    const product = products[at] as RealProduct;
    if (status === 201 && !replayed) created.set(id, product);
    else if (error?.code !== 'duplicate_value') throw new Error(`refused without a reason: ${JSON.stringify(error)}`);
  });
  await compare(first, created);
  first.close();
  const client = await restart(key);
  const again = await importAll(client, 'created before');
  again.forEach((result, at) => {
    const { status } = results[at];
    const expected = status === 201 ? { ...results[at], replayed: true } : results[at];
    if (!isDeepStrictEqual(result, expected)) throw new Error(`another result than before: ${JSON.stringify(result)}`);
  });
  await compare(client, created);
  client.close();
}

/** What a service exports without the ids, in each format. */
interface Exports {
  readonly csv: Buffer;
  readonly ndjson: Buffer;
}

async function exportsOf(client: HttpClient): Promise<Exports> {
  const get = async (Accept: string) => {
    const started = performance.now();
    const response = await client.get('/v1/products?fields=name,description,sku', { headers: { Accept } });
    const seconds = (performance.now() - started) / 1000;
    if (response.status !== 200) throw new Error(`the export failed: ${response.text.slice(0, 1_000)}`);
    print(`${response.bytes.length} bytes of ${Accept} in ${seconds.toFixed(1)} s, ${memory()}`);
    return response.bytes;
  };
  return { csv: await get('text/csv'), ndjson: await get('application/x-ndjson') };
}

async function importCsv(client: HttpClient): Promise<void> {
  const { csv, ndjson } = exported;
  const started = performance.now();
  const { text } = await client.post('/v1/products/imports', csv, {
    headers: { 'Content-Type': 'text/csv' },
  });
  const seconds = (performance.now() - started) / 1000;
  const results: ResultLine[] = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  const refused = results.find(({ status }) => status !== 201);
  if (refused || results.length === 0) throw new Error(`a record of CSV was refused: ${JSON.stringify(refused)}`);
  print(
    `${results.length} records of CSV created in ${seconds.toFixed(1)} s: ${rate(results.length, seconds)}, ${memory()}`,
  );
  const again = await exportsOf(client);
  if (!again.csv.equals(csv) || !again.ndjson.equals(ndjson)) throw new Error('the exports differ');
  print('the exports of both stores are the same, byte for byte');
  client.close();
}

async function fourNights(first: HttpClient, key: string): Promise<void> {
  let client = first;
  const catalogue = new NightlyCatalogue(products, memory, print);
  await catalogue.import(client, 'first night', () => 1);
  await catalogue.import(client, 'a tenth changed', (at) => (at % 10 === 0 ? 2 : 1));
  client.close();
  client = await restart(key);
  await catalogue.import(client, 'all changed', () => 3);
  await catalogue.import(client, 'none changed', () => 3);
  client.close();
}

async function importAll(client: HttpClient, outcome: string): Promise<ResultLine[]> {
  const started = performance.now();
  const results = await importProducts(client, products, { key: 'all of Debian' });
  const seconds = (performance.now() - started) / 1000;
  const count = results.filter(({ status }) => status === 201).length;
  print(
    `${results.length} lines in one request, ${count} ${outcome}, in ${seconds.toFixed(1)} s: ` +
      `${rate(results.length, seconds)}, ${memory()}`,
  );
  return results;
}

async function createAll(
  client: HttpClient,
  products: readonly RealProduct[],
  created: ProductsById,
  refused: Map<string, number>,
): Promise<void> {
  const started = performance.now();
  const skus = new Set([...created.values()].map(({ sku }) => sku));
  const queue = products.values();
  const work = async () => {
    for (const product of queue) {
      const response = await client.post('/v1/products', product);
      if (response.status === 201) {
        created.set(response.json.id, product);
        skus.add(product.sku);
      } else if (response.json.code === 'duplicate_value' && skus.has(product.sku)) {
        refused.set('duplicate_value', (refused.get('duplicate_value') ?? 0) + 1);
      } else {
        throw new Error(`refused without a reason: ${response.text} to ${JSON.stringify(product)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, work));
  client.close();
  const seconds = (performance.now() - started) / 1000;
  print(`${products.length} POSTs in ${seconds.toFixed(1)} s: ${rate(products.length, seconds)}, ${memory()}`);
}

async function compare(client: HttpClient, created: ProductsById): Promise<void> {
  const started = performance.now();
  const seen = new Set<number>();
  for (let path = '/v1/products?limit=1000'; path !== ''; ) {
    const page = await client.get(path);
    for (const { id, ...shown } of page.json as (RealProduct & { id: number })[]) {
      if (seen.has(id)) throw new Error(`product ${id} came twice`);
      seen.add(id);
      if (!isDeepStrictEqual(shown, created.get(id))) throw new Error(`product ${id} is not what was sent`);
    }
    path = linksOf(page.headers['link'])['next'] ?? '';
  }
  if (seen.size !== created.size) throw new Error(`${created.size} products were created and ${seen.size} found`);
  const seconds = (performance.now() - started) / 1000;
  print(
    `${seen.size} found, each once and unchanged, in ${seconds.toFixed(1)} s: ${rate(seen.size, seconds)}, ${memory()}`,
  );
}

async function restart(key: string): Promise<HttpClient> {
  const { code } = await service.stop();
  if (code !== 0) throw new Error(`the service ended with ${code}: ${service.log}`);
  service = new ChildProcessService(service.folder, { LOG_LEVEL: 'error' });
  return service.started(key);
}

function rate(count: number, seconds: number): string {
  return `${Math.round(count / seconds)} a second`;
}

function memory(): string {
  return `at most ${Math.round(memoryOf(service.pid, 'VmHWM'))} MiB resident`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
