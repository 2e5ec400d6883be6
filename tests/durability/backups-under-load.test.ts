/**
 * Makes backups while 16 writers use a service with two workers. Each backup is restored into a new folder, checked by
 * `PRAGMA integrity_check`, and compared record by record with what was acknowledged before it began: version, content,
 * deletion. A service on the last one shows the same records in lists, searches and exports. The control at night
 * copies the database without its `-wal` file, as `cp` would, and must show a difference.
 */
import { cpSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import Database from 'libsql';
import { catalogue } from '../support/child-process-service.js';
import { figuresOf } from '../support/figure.js';
import type { HttpClient } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { jsonLines } from '../support/line-stream.js';
import { run } from '../support/programs.js';
import { AT_NIGHT, sized, TEST_SEED } from '../support/run-settings.js';
import { SeededRandom } from '../support/seeded-random.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { more } from './mixed-use/campaign.js';
import { compareReads, type State, stateIn } from './mixed-use/final-state.js';
import { Fleet } from './mixed-use/fleet.js';
import { type History, Ledger, RESOURCES, type Resource, tokenOf, Verdict } from './mixed-use/ledger.js';
import type { Shared } from './mixed-use/session.js';
import { sqliteStore } from './mixed-use/stores.js';
import { Writer } from './mixed-use/writer.js';

const figure = figuresOf('backups-under-load');

const BACKUPS = sized({ gate: 2, night: 20 });
const WRITERS = 16;
/** Leaves time to the commands. */
const PAUSE_MS = 240;
const WRITES_BEFORE = sized({ gate: 100, night: 500 });
const WRITES_BETWEEN = 40;
/** The copies of the control, of which at least one must lack a write. */
const COPIES = 5;

type Versions = Readonly<Record<Resource, ReadonlyMap<number, number>>>;

/** What was known when a backup began and after it ended. */
interface Moment {
  readonly acknowledged: readonly { history: History; version: number; isDeleted: boolean }[];
  readonly later: Versions;
}

describe('backups while a service writes', function () {
  this.timeout(300_000);
  const root = temporaryFolder();
  const store = sqliteStore(mkdtempSync(join(root, 'store-')));
  const random = new SeededRandom(TEST_SEED);
  const ledger = new Ledger();
  const fleet = new Fleet(store.folder, store.settings, random);
  let numbers = 0;
  const shared: Shared = {
    target: fleet,
    ledger,
    isKeyed: true,
    tokens: [FIRST_KEY],
    isOver: false,
    pauseMs: PAUSE_MS,
    next: () => ++numbers,
  };
  let writers: Promise<unknown> = Promise.resolve();

  before(async () => {
    await fleet.start([2]);
    writers = Promise.all(
      Array.from({ length: WRITERS }, (_, at) =>
        new Writer(shared, new SeededRandom(TEST_SEED * 1_000 + at), at).run(),
      ),
    );
    writers.catch(() => {});
    await moreWrites(WRITES_BEFORE);
  });
  after(() => fleet.abandon());

  const clientOf = (services: Fleet): HttpClient => {
    const found = services.client(random);
    if (!found) throw new Error('No service is running.');
    return found;
  };
  const moreWrites = (count: number) => Promise.race([more(ledger, count), writers]);
  /** Makes a file from the database. @returns what it must contain, and what it may contain */
  const around = async (make: () => Promise<unknown>): Promise<Moment> => {
    const acknowledged = RESOURCES.flatMap((resource) =>
      ledger.records(resource).map((history) => ({ history, version: history.highest, isDeleted: history.isDeleted })),
    );
    await make();
    const later = await Promise.all(RESOURCES.map(async (name) => [name, await versionsIn(clientOf(fleet), name)]));
    return { acknowledged, later: Object.fromEntries(later) };
  };
  /** Restores a backup into a new folder. @returns the folder */
  const restore = async (backup: string): Promise<string> => {
    const folder = mkdtempSync(join(root, 'restored-'));
    expect(await run(folder, 'restore', backup)).to.contain('restored');
    return folder;
  };
  const restored = (folder: string) => sqliteStore(folder).storage();

  it('contain what was acknowledged before they began, and nothing that was never sent', async () => {
    const made: { moment: Moment; folder: Promise<string> }[] = [];
    for (let at = 0; at < BACKUPS; at++) {
      await moreWrites(WRITES_BETWEEN);
      const file = join(root, `backup-${at}.sqlite`);
      const moment = await around(() => run(store.folder, 'backup', file));
      // The next backup is made meanwhile.
      const folder = restore(file);
      folder.catch(() => {});
      made.push({ moment, folder });
    }
    const folders = await Promise.all(made.map(({ folder }) => folder));
    const refused = await catalogue(store.folder, ['restore', join(root, 'backup-0.sqlite')]);
    expect([refused.code, refused.out], refused.err).to.deep.equal([69, '']);

    const last = folders.at(-1) ?? '';
    const verdict = new Verdict();
    const service = new Fleet(last, sqliteStore(last).settings, random);
    try {
      await service.start([1]);
      const copy = mkdtempSync(join(root, 'copy-'));
      await run(last, 'backup', join(copy, 'b.sqlite'));
      const state = await stateIn(sqliteStore(await restore(join(copy, 'b.sqlite'))).storage());
      await compareReads(clientOf(service), state, verdict);
    } finally {
      await service.abandon();
    }
    await moreWrites(WRITES_BETWEEN);
    const differences = [...verdict.all];
    for (const [at, { moment }] of made.entries()) {
      const folder = folders[at] ?? '';
      const found = differing(moment, await stateIn(restored(folder)), ledger);
      differences.push(...found.map((difference) => `backup ${at}: ${difference}`));
      if (integrityOf(join(folder, 'data/catalogue.sqlite')) !== 'ok') differences.push(`backup ${at} is damaged`);
    }
    figure('backups restored', folders.length);
    figure('acknowledged meanwhile', ledger.acknowledged);
    figure('differences', differences.length);
    expect(differences).to.deep.equal([]);
  });

  // Whether a copy lacks a write is a matter of chance.
  if (AT_NIGHT)
    it('differ from copies of the database without its log, which the checker counts', async () => {
      let differences = 0;
      for (let at = 0; at < COPIES && differences === 0; at++) {
        await moreWrites(WRITES_BETWEEN);
        const folder = mkdtempSync(join(root, 'copied-'));
        mkdirSync(join(folder, 'data'));
        const moment = await around(async () =>
          cpSync(join(store.folder, 'data/catalogue.sqlite'), join(folder, 'data/catalogue.sqlite')),
        );
        const state = await stateIn(restored(folder)).catch((error: Error) => {
          if (!/damaged|is not a SQLite database/.test(error.message)) throw error;
          return undefined;
        });
        differences += state ? differing(moment, state, ledger).length : moment.acknowledged.length;
      }
      figure('differences of a copy without its log', differences);
      expect(differences).to.be.greaterThan(0);
    });

  it('end with a service that lost nothing', async () => {
    shared.isOver = true;
    await writers;
    await fleet.stop();
    const state = await stateIn(store.storage());
    expect(ledger.verify(state.live, state.dead).all).to.deep.equal([]);
  });
});

/** Reads the version of each record. */
async function versionsIn(client: HttpClient, resource: Resource): Promise<Map<number, number>> {
  const headers = { Accept: 'application/x-ndjson' };
  const { status, text } = await client.get(`/${resource}?fields=id,version`, { headers });
  expect(status, text).to.equal(200);
  return new Map(jsonLines(text).map(({ id, version }) => [id, version]));
}

/** Compares a restored database with what was acknowledged before its backup began and what was there after its end. */
function differing({ acknowledged, later }: Moment, { live, dead }: State, ledger: Ledger): string[] {
  const found: string[] = [];
  const records = new Map(RESOURCES.flatMap((resource) => live[resource].map((one) => [`${resource}/${one.id}`, one])));
  for (const { history, version, isDeleted } of acknowledged) {
    const { resource, id, name, deletionsSent } = history;
    const record = records.get(`${resource}/${id}`);
    if (record && isDeleted) found.push(`${name} was deleted before, but is there`);
    if (record && record.version < version) found.push(`${name} has version ${record.version} of ${version}`);
    if (!record && deletionsSent === 0) found.push(`${name} is not there`);
    if (!record && !dead[resource].has(id)) found.push(`${name} has no tombstone`);
  }
  for (const resource of RESOURCES) {
    const known = new Map(ledger.records(resource).map((history) => [history.id, history]));
    for (const { id, version, fields } of live[resource]) {
      const history = known.get(id);
      if (!history || !ledger.isSent(resource, tokenOf(resource, fields))) {
        found.push(`${resource}/${id} was never sent`);
        continue;
      }
      const newest = later[resource].get(id);
      if (newest === undefined ? history.deletionsSent === 0 : newest < version)
        found.push(`${history.name} has version ${version}, later ${newest}`);
      const content = history.contentOf(version);
      if (content && !isDeepStrictEqual(content, fields)) found.push(`${history.name} has another content`);
    }
  }
  return found;
}

function integrityOf(file: string): unknown {
  const database = new Database(file);
  try {
    return (database.prepare('PRAGMA integrity_check').raw().get() as unknown[])[0];
  } finally {
    database.close();
  }
}
