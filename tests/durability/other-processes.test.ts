/**
 * Other programs open and close the database after each kind of read, and the service ends by SIGTERM or SIGKILL. Every
 * acknowledged write is there afterwards.
 */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Acknowledged } from '../support/acknowledged.js';
import { CrashService } from '../support/crash-service.js';
import type { HttpClient, HttpResponse } from '../support/http-client.js';
import { linksOf } from '../support/links.js';
import { COMMANDS, OTHER_BACKUP, type Program, run, SEED } from '../support/programs.js';
import { needPythonSqlite } from '../support/python.js';
import { AT_NIGHT } from '../support/run-settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** With at least this many products, no filter here is selective enough to fetch all its records. */
const SEEDED = 1_001;
const NDJSON = { headers: { Accept: 'application/x-ndjson' } };
const COUNT = { headers: { Prefer: 'count=exact' } };

type Read = (client: HttpClient) => Promise<HttpResponse>;

/** Every kind of read for which a process opens a second connection: lists without an index, and counts. */
const READS: Readonly<Record<string, Read>> = {
  'a filter by attribute': (client) => client.get('/products?attributes.colour=black&sort=name,-createdAt'),
  'a filter with another sort': (client) => client.get('/products?sort=name&createdAt.gte=2000-01-01T00:00:00Z'),
  'a sort by two fields': (client) => client.get('/products?sort=name,-createdAt'),
  'a later page': async (client) => {
    const first = await client.get('/products?sort=-name,createdAt&limit=1');
    return client.get(linksOf(first.headers['link'])['next'] ?? '/no-next-page');
  },
  'a count': (client) => client.get('/products?limit=1', COUNT),
  'an export': (client) => client.get('/products?name.ne=x', NDJSON),
  'a list of API keys with a count': (client) => client.get('/api-keys?name.ne=x', COUNT),
};

/** The reads that the gate plays with this number of processes: a list without an index, one behind a page, a count, an export. */
const OF_GATE: Readonly<Record<number, readonly string[]>> = {
  1: ['a filter by attribute', 'a later page', 'a count', 'an export'],
  2: ['a filter by attribute', 'an export'],
};

/** The reads that this number of processes plays. */
function readsOf(workers: number): [kind: string, read: Read][] {
  return Object.entries(READS).filter(([kind]) => AT_NIGHT || OF_GATE[workers]?.includes(kind));
}

/** A store and its service, which ends and restarts after each kind of read. */
class Chain {
  private acknowledged = new Acknowledged();
  private folder = '';
  /** Each process of the running service has one connection to the database. */
  private service: CrashService | undefined;
  private readonly rows = new Map<string, Promise<void>>();

  constructor(
    private readonly root: string,
    readonly workers: number,
  ) {}

  /**
   * The service ends by SIGTERM and SIGKILL in turn.
   * @param offset differs between chains, so that each combines another command and signal with the same kind of read
   */
  startRows(offset: number): void {
    const commands = Object.entries({ ...COMMANDS, seed: SEED });
    let before: Promise<void> = Promise.resolve();
    for (const [i, [kind, read]] of readsOf(this.workers).entries()) {
      const [name = '', command = SEED] = commands[(i + offset * 4) % commands.length] ?? [];
      const programs = {
        [name]: command,
        ...(AT_NIGHT && { seed: SEED }),
        'another library': OTHER_BACKUP,
      };
      const signal = (i + offset) % 2 === 0 ? 'SIGTERM' : 'SIGKILL';
      const row = before.then(() => this.play(read, programs, signal));
      this.rows.set(kind, row);
      // The next row begins with a new store.
      before = row.catch(() => this.end());
    }
  }

  row(kind: string): Promise<void> {
    return this.rows.get(kind) ?? Promise.reject(new Error(`${kind} was not started`));
  }

  async end(): Promise<void> {
    await this.service?.end('SIGKILL');
    this.service = undefined;
  }

  private async play(
    read: Read,
    programs: Readonly<Record<string, Program>>,
    signal: 'SIGTERM' | 'SIGKILL',
  ): Promise<void> {
    const service = this.service ?? (await this.startWithNewStore());
    await openSecondConnections(service, read);
    for (const [name, program] of Object.entries(programs)) {
      await program(service, this.acknowledged);
      expect(deletedFiles(service), `deleted after ${name}`).to.deep.equal([]);
      await this.acknowledged.createProducts(service);
    }
    await this.acknowledged.revokeKey(service);
    await service.end(signal);
    this.service = await CrashService.start(this.folder, this.workers, service.token);
    await this.acknowledged.expectAllIn(this.service);
  }

  private async startWithNewStore(): Promise<CrashService> {
    this.folder = mkdtempSync(join(this.root, 'store-'));
    this.acknowledged = new Acknowledged();
    this.acknowledged.seeded = SEEDED;
    await run(this.folder, 'seed', '--products', `${SEEDED}`);
    this.service = await CrashService.start(this.folder, this.workers);
    return this.service;
  }
}

/** Sends the read until every process has two connections to the database. */
async function openSecondConnections(service: CrashService, read: Read): Promise<void> {
  const logs = (pid: number) => service.openFiles(pid).filter((path) => path.endsWith('-wal')).length;
  for (let tries = 0; service.pids.some((pid) => logs(pid) < 2); tries++) {
    expect(tries, 'reads without a new connection').to.be.lessThan(20);
    expect((await service.with(read)).status).to.equal(200);
  }
}

function deletedFiles(service: CrashService): string[] {
  return service.pids.flatMap((pid) => service.openFiles(pid)).filter((path) => path.endsWith(' (deleted)'));
}

describe('writes that SQLite acknowledged survive other processes that open the database', () => {
  const root = temporaryFolder();
  const chains = [1, 2].map((workers) => new Chain(root, workers));

  before(() => {
    needPythonSqlite();
    // The chains run at the same time: most of the time is spent in starts, which are sequential in each chain.
    for (const [i, chain] of chains.entries()) chain.startRows(i);
  });
  after(async () => {
    for (const chain of chains) await chain.end();
  });

  for (const chain of chains) {
    describe(chain.workers === 1 ? 'one process' : 'two workers', () => {
      for (const [kind] of readsOf(chain.workers)) it(`after ${kind}`, () => chain.row(kind));
    });
  }
});
