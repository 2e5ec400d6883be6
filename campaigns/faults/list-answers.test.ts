/**
 * Two hundred random queries of 100,000 sample products in one SQLite file, through two processes: lists, pages, counts
 * and facets. At rest the answers are those that were recorded. While a writer on each process changes, replaces, creates
 * and deletes records, and afterwards, they are those of the definitions of filters, orders and facets.
 *
 * `npx mocha build/campaigns/faults/list-answers.test.js --record` records the answers of this checkout, for a change of
 * the sample products, of the fields or of the queries.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sampleProduct } from '#src/adapters/inbound/cli/samples.js';
import { PRODUCT } from '#src/domain/product.js';
import { openStore } from '../../tests/stores/provider.js';
import { ChildProcessService } from '../../tests/support/child-process-service.js';
import { figuresOf } from '../../tests/support/figure.js';
import type { HttpClient, HttpResponse } from '../../tests/support/http-client.js';
import { FIRST_KEY } from '../../tests/support/in-process-service.js';
import { linksOf } from '../../tests/support/links.js';
import { TEST_SEED } from '../../tests/support/run-settings.js';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { type Answer, Reference } from './list-reference.js';
import { type ProductRecord, type RandomList, randomLists, sampleRecords } from './random-lists.js';

const figure = figuresOf('list-answers');

const RECORDS = 100_000;
const QUERIES = 200;
const WRITES = 20_000;
const COMMIT = 1_000;
/** The queries and the records of the file are always these. */
const SEED = 1;
const FILE = 'campaigns/faults/list-answers.json';
/** The service's own fields are shown to those who ask. */
const SHOWN = `fields=id,version,createdAt,updatedAt,${Object.keys(PRODUCT)}`;
/** A guard, far longer than a test takes on two cores. */
const LIMIT_MS = 1_200_000;

describe('random lists of SQLite through two processes', () => {
  const folder = temporaryFolder();
  const services: ChildProcessService[] = [];
  const clients: HttpClient[] = [];
  let reference: Reference;
  let queries: readonly RandomList[];

  before(async function () {
    this.timeout(LIMIT_MS);
    const settings = { STORE: 'sqlite', SQLITE_FILE: join(folder, 'catalogue.sqlite') };
    const records = await fill(settings);
    reference = new Reference(records);
    queries = randomLists(QUERIES, SEED, records);
    // The definition of an answer does not depend on time.
    const environment = { BOOTSTRAP_API_KEY: FIRST_KEY, LOG_LEVEL: 'silent', QUERY_TIMEOUT_MS: '600000' };
    for (const name of ['one', 'other']) {
      mkdirSync(join(folder, name));
      services.push(new ChildProcessService(join(folder, name), { ...environment, ...settings }));
    }
    for (const service of services) {
      const client = await service.started(FIRST_KEY);
      // Other suites compare responses with the OpenAPI document; here this only costs time.
      client.documented = undefined;
      clients.push(client);
    }
  });
  after(async () => {
    for (const client of clients) client.close();
    for (const service of services) await service.stop('SIGKILL');
  });

  /** @returns what is wrong, with the query */
  async function judged(query: RandomList, answer: Answer): Promise<string[]> {
    const problems = await reference.problems(query, answer);
    return problems.slice(0, 3).map((problem) => `${query.list} | ${query.facets} | ${problem}`);
  }

  it('are those recorded', async () => {
    const answers: Answer[] = [];
    for (const [at, query] of queries.entries()) answers.push(await ask(query, inTurn(clients, at)));
    const found = answers.map(shortened);
    if (process.argv.includes('--record'))
      writeFileSync(FILE, `[\n  ${found.map((one) => JSON.stringify(one).replaceAll(',', ', ')).join(',\n  ')}\n]\n`);
    const expected: unknown[] = JSON.parse(readFileSync(FILE, 'utf8'));
    const problems: string[] = [];
    for (const [at, query] of queries.entries()) {
      const answer = answers[at] as Answer;
      if (JSON.stringify(found[at]) !== JSON.stringify(expected[at]))
        problems.push(`${query.list} | ${query.facets} | recorded: ${expected[at]}, found: ${found[at]}`);
      problems.push(...(await judged(query, answer)));
    }
    expectNone(problems);
    expect(expected).to.have.length(QUERIES);
  }).timeout(LIMIT_MS);

  it('are right while both processes write', async () => {
    const writers = clients.map((client, at) => new Writer(client, reference, at, clients.length));
    const problems: string[] = [];
    let asked = 0;
    const read = async () => {
      while (asked < queries.length || writers.some(({ isWriting }) => isWriting)) {
        const at = asked++;
        const query = queries[at % queries.length] as RandomList;
        const answer = await ask(query, inTurn(clients, at));
        // A write that the answer may show is noted when it is acknowledged.
        await Promise.all(writers.map(({ current }) => current));
        problems.push(...(await judged(query, answer)));
      }
    };
    await Promise.all([...writers.map((writer) => writer.run(WRITES / writers.length)), read(), read()]);
    figure('writes meanwhile', WRITES);
    figure('queries meanwhile', asked);
    expectNone(problems);
  }).timeout(LIMIT_MS);

  it('are right in both processes afterwards, as the export is', async () => {
    const problems: string[] = [];
    for (const client of clients) {
      const response = await client.get(`/v1/products?${SHOWN}`, {
        headers: { Accept: 'application/x-ndjson' },
      });
      const lines = response.text.trimEnd().split('\n');
      const exported = lines.map((line) => recordOf(JSON.parse(line)));
      // chai would compare the whole for minutes.
      expect(hashOf(exported.map(ordered))).to.equal(hashOf(reference.records().map(ordered)));
      for (const query of queries) problems.push(...(await judged(query, await ask(query, () => client))));
    }
    expectNone(problems);
  }).timeout(LIMIT_MS);
});

/** chai would show none of them. */
function expectNone(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error([`${problems.length} wrong`, ...problems.slice(0, 20)].join('\n'));
}

/** Makes a file with the sample products. */
async function fill(settings: Readonly<Record<string, string>>): Promise<ProductRecord[]> {
  const store = await openStore(settings);
  const records = sampleRecords(RECORDS, await store.products.reserveIds(RECORDS));
  for (let at = 0; at < RECORDS; at += COMMIT) await store.products.insertAll(records.slice(at, at + COMMIT));
  await store.close();
  return records;
}

/** Returns a function that returns each client in turn. */
function inTurn(clients: readonly HttpClient[], first: number): () => HttpClient {
  let at = first;
  return () => clients[at++ % clients.length] as HttpClient;
}

async function ask({ list, pages, facets }: RandomList, client: () => HttpClient): Promise<Answer> {
  const from = performance.now();
  const get = async (path: string, headers: Record<string, string> = {}) =>
    successful(await client().get(path, { headers }), 200);
  const first = await get(`/v1/products?${list}&${SHOWN}`, { Prefer: 'count=exact' });
  const read: HttpResponse[] = [first];
  let next = linksOf(first.headers['link'])['next'];
  while (next && read.length < pages) {
    const page = await get(next);
    next = linksOf(page.headers['link'])['next'];
    // The last page may be empty, if the store was not sure that there is none.
    if (page.json.length > 0 || next) read.push(page);
  }
  const back: HttpResponse[] = [];
  let prev = linksOf(read.at(-1)?.headers['link'])['prev'];
  while (prev && back.length < pages - 1) {
    const page = await get(prev);
    back.unshift(page);
    prev = linksOf(page.headers['link'])['prev'];
  }
  const counted = await get(`/v1/products/facets?${facets}`);
  const [before] = recordsIn(read.at(-1));
  return {
    forwards: { records: read.flatMap(recordsIn), hasMore: next !== undefined },
    ...(back.length > 0 &&
      before && { backwards: { records: back.flatMap(recordsIn), hasMore: prev !== undefined, before } }),
    total: Number(first.headers['x-total-count']),
    facets: counted.json,
    from,
    to: performance.now(),
  };
}

function recordsIn(page: HttpResponse | undefined): ProductRecord[] {
  return (page?.json ?? []).map(recordOf);
}

/** The record that a body shows. */
function recordOf({ id, version, createdAt, updatedAt, ...fields }: Record<string, unknown>): ProductRecord {
  const [created, updated] = [createdAt, updatedAt].map((text) => Date.parse(String(text)));
  return { id, version, createdAt: created, updatedAt: updated, fields } as ProductRecord;
}

/** With its fields in one order. */
function ordered({ fields, ...record }: ProductRecord): unknown {
  return [record.id, record.version, record.createdAt, record.updatedAt, Object.entries(fields).sort()];
}

function successful(response: HttpResponse, expected: number): HttpResponse {
  expect(response.status, response.text.slice(0, 300)).to.equal(expected);
  return response;
}

function shortened({ forwards, backwards, total, facets }: Answer): [ids: string, total: number, facets: string] {
  const ids = [forwards, backwards].map((run) => run?.records.map(({ id }) => id));
  return [hashOf(ids), total, hashOf(facets)];
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 10);
}

/** Writes one record after the other, of those whose ids leave its own remainder. */
class Writer {
  isWriting = true;
  /** Settles when the write that is in progress is acknowledged. */
  current: Promise<void> = Promise.resolve();
  private readonly random: SeededRandom;
  private readonly ids: number[];
  private created = 0;

  constructor(
    private readonly client: HttpClient,
    private readonly reference: Reference,
    private readonly at: number,
    count: number,
  ) {
    this.random = new SeededRandom(TEST_SEED * count + at);
    this.ids = reference
      .records()
      .map(({ id }) => id)
      .filter((id) => id % count === at);
  }

  async run(writes: number): Promise<void> {
    try {
      for (let left = writes; left > 0; left--) {
        this.current = this.write();
        await this.current;
      }
    } finally {
      this.isWriting = false;
    }
  }

  private async write(): Promise<void> {
    const { client, random, ids } = this;
    const { sku, ...product } = sampleProduct(2, 1 + random.below(1_000_000));
    const place = random.below(ids.length);
    const path = `/v1/products/${ids[place]}`;
    const sentAt = performance.now();
    const kind = random.weighted({ change: 4, replace: 2, create: 2, remove: 2 });
    if (kind === 'remove') {
      successful(await client.delete(path), 204);
      const [id = 0] = ids.splice(place, 1);
      this.reference.wrote(id, undefined, sentAt, performance.now());
      return;
    }
    const { name, price, tags, attributes, brand, stock } = product;
    const part = random.oneOf([{ name }, { price }, { tags, brand }, { attributes }, { stock }, { price, stock }]);
    const response = {
      change: () => client.patch(path, part),
      replace: () => client.put(path, product),
      create: () => client.post('/v1/products', { ...product, sku: `${sku}-${this.at}-${this.created++}` }),
    }[kind]();
    const { headers } = successful(await response, kind === 'create' ? 201 : 200);
    const acknowledgedAt = performance.now();
    // Nobody else writes the record, so this is what was written.
    const record = recordOf(successful(await client.get(`${headers['location'] ?? path}?${SHOWN}`), 200).json);
    if (kind === 'create') ids.push(record.id);
    this.reference.wrote(record.id, record, sentAt, acknowledgedAt);
  }
}
