/**
 * Readers follow lists to the end and back: six sorts, two searches and a filter; they also export some as NDJSON. Page
 * sizes change on the way. Eight writers create, change, rename and delete records meanwhile. Each record that exists
 * throughout and keeps its sort fields and filters is seen once, in the order of the list.
 */
import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { sampleProduct } from '#src/adapters/inbound/cli/samples.js';
import { ChildProcessService, catalogue } from '../../tests/support/child-process-service.js';
import { figuresOf } from '../../tests/support/figure.js';
import { HttpClient } from '../../tests/support/http-client.js';
import { FIRST_KEY } from '../../tests/support/in-process-service.js';
import { MongoProcess } from '../../tests/support/mongo-process.js';
import { TEST_SEED } from '../../tests/support/run-settings.js';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import {
  Baseline,
  exportAll,
  FILTERED,
  insist,
  isDeleted,
  isRenamed,
  isTouched,
  Seen,
  SORTS,
  walk,
} from './list-walks.js';

const figure = figuresOf('lists-during-writes');

const READERS = 4;
const WRITERS = 8;
/** A guard, far longer than a test takes on two cores. */
const LIMIT_MS = 1_200_000;
/** The writes per page, so few that a reader in order of `updatedAt` reaches the end. */
const WRITES_PER_PAGE = 4;
const PAUSE_MS = 5;
/** The lists that are exported as well. */
const EXPORTED = [...SORTS.slice(0, 3), ...FILTERED.slice(0, 1)];

/** Creates, changes, renames and deletes records until it is stopped. */
class Writers {
  writes = 0;
  private isStopped = false;
  private readonly random = new SeededRandom(TEST_SEED);
  private readonly running: Promise<void>[];
  private readonly touched: number[];
  private readonly renamed: number[];
  private readonly deleted: number[];

  constructor(
    private readonly client: HttpClient,
    { records }: Baseline,
    private readonly seen: Seen,
  ) {
    this.touched = records.filter(isTouched).map(({ id }) => id);
    this.renamed = records.filter(isRenamed).map(({ id }) => id);
    this.deleted = records.filter(isDeleted).map(({ id }) => id);
    this.running = Array.from({ length: WRITERS }, () => this.run());
    for (const writer of this.running) writer.catch(() => {});
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.running);
  }

  private async run(): Promise<void> {
    while (!this.isStopped) {
      if (this.seen.exports > 0 || this.writes < this.seen.pages * WRITES_PER_PAGE) {
        this.writes++;
        await this.write(this.random.fraction());
      }
      await sleep(PAUSE_MS);
    }
  }

  private async write(dice: number): Promise<void> {
    const { client } = this;
    // Another product's name: it sorts anywhere.
    const { name, sku, ...others } = sampleProduct(2, 1 + this.random.below(1_000_000));
    if (dice < 0.25) await insist(() => client.post('/products', { name, ...others }), 201);
    else if (dice < 0.5) {
      const change = { attributes: { note: `${sku} ${this.random.fraction()}` } };
      await insist(() => client.patch(`/products/${this.random.oneOf(this.touched)}`, change));
    } else if (dice < 0.75) await insist(() => client.patch(`/products/${this.random.oneOf(this.renamed)}`, { name }));
    else {
      const [id] = this.deleted.splice(this.random.below(this.deleted.length), 1);
      // After a refusal nobody knows whether it was deleted.
      if (id !== undefined) expect((await client.delete(`/products/${id}`)).status).to.be.oneOf([204, 503]);
    }
  }
}

/** Imports the first sample products, as often as the store refuses some of them. */
async function importSamples(client: HttpClient, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, at) => JSON.stringify(sampleProduct(1, at + 1)));
  const headers = { 'Content-Type': 'application/x-ndjson', 'Idempotency-Key': 'samples' };
  for (let created = 0; created < count; ) {
    const { text } = await insist(() => client.post('/products/imports', lines.join('\n'), { headers }));
    created = text.match(/"status":201/g)?.length ?? 0;
  }
}

describe('lists while others write', () => {
  const root = temporaryFolder();
  let mongo: MongoProcess;
  let folders = 0;

  before(async () => {
    mongo = await MongoProcess.onFreePort(root);
  });
  after(() => mongo.kill());

  async function campaign(
    store: string,
    limit: number,
    settings: Record<string, string>,
    prepare: (client: HttpClient) => Promise<void>,
    folder: string,
  ): Promise<void> {
    const environment = { STORE: store, BOOTSTRAP_API_KEY: FIRST_KEY, LOG_LEVEL: 'silent', ...settings };
    const service = new ChildProcessService(folder, environment);
    const client = await service.started(FIRST_KEY);
    client.documented = undefined;
    const connect = () => new HttpClient(client.port, `${folder}/data/tls/ca.pem`, FIRST_KEY);
    const readers = Array.from({ length: READERS }, connect);
    try {
      await prepare(client);
      const baseline = await Baseline.read(client);
      const seen = new Seen();
      const walks = (lists: typeof SORTS, limit: number) =>
        lists.map((list) => (reader: HttpClient) => walk(reader, list, baseline, limit, seen));
      const work = [
        ...walks(SORTS, limit),
        ...walks(FILTERED, limit / 10),
        ...EXPORTED.map((list) => (reader: HttpClient) => exportAll(reader, list, baseline, seen)),
      ];
      const writers = new Writers(client, baseline, seen);
      await Promise.all(
        readers.map(async (reader) => {
          for (let read = work.shift(); read; read = work.shift()) await read(reader);
        }),
      );
      await writers.stop();
      figure(`records at the begin (${store})`, baseline.records.length);
      figure('pages', seen.pages);
      figure('records seen', seen.records);
      figure('writes meanwhile', writers.writes);
      figure('repeated', seen.repeated);
      figure('skipped', seen.skipped);
      expect(seen.problems).to.deep.equal([]);
      expect(writers.writes).to.be.greaterThan(50);
    } finally {
      for (const each of [client, ...readers]) each.close();
      await service.stop('SIGKILL');
    }
  }

  const folderOf = () => {
    const folder = `${root}/${++folders}`;
    mkdirSync(folder);
    return folder;
  };

  it('show 100,000 records of SQLite once each, through two processes', async () => {
    const folder = folderOf();
    const { code, err } = await catalogue(folder, ['seed', '--products', '100000']);
    expect(code, err).to.equal(0);
    await campaign('sqlite', 1_000, { WORKERS: '2' }, async () => {}, folder);
  }).timeout(LIMIT_MS);

  it('show 5,000 records in memory once each', () =>
    campaign('memory', 250, {}, (client) => importSamples(client, 5_000), folderOf())).timeout(LIMIT_MS);

  it('show 1,000 records of MongoDB once each', async () => {
    await mongo.run();
    const url = `mongodb://127.0.0.1:${mongo.port}/lists?directConnection=true`;
    const prepare = (client: HttpClient) => importSamples(client, 1_000);
    await campaign('mongodb', 100, { MONGODB_URL: url }, prepare, folderOf());
  }).timeout(LIMIT_MS);
});
