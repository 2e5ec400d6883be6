import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { RELEASED } from '#src/adapters/outbound/sqlite/connection/migrations.js';
import { GENERATION_MS } from '#src/application/changes/feed-state.js';
import type { FeedPosition } from '#src/application/ports/change-feed.js';
import { copyStores } from '#src/composition/copy-stores.js';
import { AT, product } from '../contract/repository/records.js';
import { type OpenStore, openStore } from '../stores/provider.js';
import { inSqlite } from '../stores/sqlite.js';
import { createSchema } from '../support/old-sqlite.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { runInProcess } from '../unit/adapters/inbound/cli/run-command.js';

/** What programs of release 0.1.0 run: statements that write, which must fail, and that read. */
const OLD_WRITES = [
  'INSERT INTO products (id, version, created_at, updated_at, fields) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING',
  'INSERT INTO products VALUES (?, ?, ?, ?, ?)',
  'UPDATE products SET version = ?, updated_at = ?, fields = ? WHERE id = ? AND version = ?',
  'INSERT INTO tombstones VALUES (?, ?, ?)',
  `DELETE FROM tombstones WHERE (resource, id) IN (
    SELECT resource, id FROM tombstones WHERE resource = ? AND deleted_at < ? ORDER BY deleted_at LIMIT ?)`,
];
const OLD_READS: readonly string[] = [
  'SELECT id, version, created_at, updated_at, fields FROM products WHERE id = ?',
  'SELECT id, version FROM products INDEXED BY products_updated_at WHERE updated_at > ? ORDER BY updated_at',
  'SELECT id FROM products INDEXED BY products_name WHERE name > ?',
  "SELECT 1 FROM tombstones WHERE resource = 'products' AND id = ?",
];

describe('the feeds of a SQLite database', () => {
  const folder = temporaryFolder();
  let file: string;
  let store: OpenStore | undefined;
  beforeEach(() => {
    file = join(mkdtempSync(join(folder, 'feeds-')), 'catalogue.sqlite');
  });
  afterEach(() => store?.close());

  const open = async (path = file): Promise<OpenStore> => {
    store = await openStore({ STORE: 'sqlite', SQLITE_FILE: path });
    return store;
  };
  /** Runs `use` with a store that is open meanwhile. */
  const inStore = <Result>(use: (opened: OpenStore) => Promise<Result>, path = file) => inSqlite(path, use);
  /** Turns the feeds on, and writes a record. @returns the place before it */
  const started = (path = file): Promise<FeedPosition> =>
    inStore(async ({ changes, feedState, products }) => {
      await feedState.turnOn();
      const end = await changes.products.end();
      await products.insertAll([product(1)]);
      return end;
    }, path);
  const isExpired = (position: FeedPosition, path = file) =>
    inStore(async ({ changes }) => (await changes.products.read(position, 10)) === undefined, path);

  const generationIn = (path: string) => inStore(async ({ feedState }) => feedState.generation(), path);

  it('are not written until a service turns them on, and then show what comes later', async () => {
    await inStore(async ({ products, changes, feedState }) => {
      await products.insertAll([product(1), product(2)]);
      await products.removeAll([{ id: 2, expected: 1, at: AT }]);
      await feedState.turnOn();
      const end = await changes.products.end();
      await products.insertAll([product(3)]);
      await products.removeAll([{ id: 1, expected: 1, at: AT }]);
      expect((await changes.products.read(end, 10))?.changes).to.deep.equal([
        product(3),
        { id: 1, version: 2, deleted: true },
      ]);
    });
    const database = new Database(file);
    const numbers = database.prepare('SELECT id, change FROM products UNION SELECT id, change FROM tombstones');
    expect(numbers.raw().all()).to.deep.equal([
      [1, 2],
      [2, null],
      [3, 1],
    ]);
    database.close();
  });

  it('miss no write of a program of 0.1.0: it may read on, and fails to write', async () => {
    const old = new Database(file);
    old.exec('PRAGMA journal_mode = WAL');
    createSchema(old, RELEASED);
    old.exec(`INSERT INTO products (id, version, created_at, updated_at, fields) VALUES (1, 1, 0, 5, '{"name":"old"}');
      INSERT INTO tombstones VALUES ('products', 2, 0)`);
    const writes = OLD_WRITES.map((sql) => old.prepare(sql));
    const reads = OLD_READS.map((sql) => old.prepare(sql).raw());
    await open();
    for (const [at, write] of writes.entries()) {
      const values = new Array(OLD_WRITES[at]?.split('?').length ?? 0).fill(1).slice(1);
      expect(() => write.run(...values), OLD_WRITES[at]).to.throw(
        /generated column|columns but|no such column|no column/,
      );
    }
    const [record, order, named, tombstone] = reads;
    expect(record?.all(1)).to.deep.equal([[1, 1, 0, 5, '{"name":"old"}']]);
    expect(order?.all(1)).to.deep.equal([[1, 1]]);
    expect(named?.all('n')).to.deep.equal([[1]]);
    expect(tombstone?.all(2)).to.deep.equal([[1]]);
    old.close();
  });

  it('begin anew, in another generation, in each restored database, also of a release that knew none', async () => {
    const end = await started();
    const [backup, old] = [`${file}.backup`, `${file}.old`];
    const database = new Database(old);
    createSchema(database, RELEASED);
    database.close();
    const run = (SQLITE_FILE: string, ...args: string[]) => runInProcess(args, { DATA_DIR: folder, SQLITE_FILE });
    expect(await run(file, 'backup', backup)).to.include({ code: 0 });
    const seen = [await generationIn(file), await generationIn(backup)];
    for (const source of [backup, backup, old]) {
      const restored = `${file}.${seen.length}`;
      expect(await run(restored, 'restore', source)).to.include({ code: 0, err: '' });
      seen.push(await generationIn(restored));
      expect(seen.at(-1)).to.match(/^[0-9a-f]{10}$/);
    }
    expect([seen[0], seen[1], new Set(seen).size]).to.deep.equal([undefined, undefined, 4]);
    const restored = `${file}.2`;
    expect([await isExpired(end, backup), await isExpired(end, restored)]).to.deep.equal([false, true]);
    const later = await inStore(({ changes }) => changes.products.end(), restored);
    expect(await isExpired(later, restored)).to.equal(false);
  });

  it('begin anew in the target of a copy', async () => {
    const target = `${file}.target`;
    await inStore(({ products }) => products.insertAll([product(1)]));
    const before = await inStore(async ({ changes, feedState }) => {
      await feedState.turnOn();
      return changes.products.end();
    }, target);
    const beside = await open(target);
    let meanwhile: FeedPosition | undefined;
    const take = async () => {
      meanwhile ??= await beside.changes.products.end();
    };
    await copyStores(`sqlite:${file}`, `sqlite:${target}`, { progress: take });
    expect(await isExpired(before, target)).to.equal(true);
    expect(meanwhile && (await beside.changes.products.read(meanwhile, 10))).to.equal(undefined);
    await copyStores(`sqlite:${target}`, `sqlite:${target}.again`, { progress: () => {} });
    const generations = await Promise.all([file, target, `${target}.again`].map(generationIn));
    expect([generations[0], new Set(generations).size]).to.deep.equal([undefined, 3]);
  });

  it('begin anew by a command, beside a service', async () => {
    const end = await started();
    const opened = await open();
    let lastWithout = performance.now();
    const asking = setInterval(() => {
      const at = performance.now();
      if (opened.feedState.generation() === undefined) lastWithout = at;
    });
    const { code, out, err } = await runInProcess(['changes', 'reset'], {
      SQLITE_FILE: file,
      DATA_DIR: folder,
    });
    clearInterval(asking);
    // By then each process of the service knows the generation.
    expect(performance.now() - lastWithout).to.be.at.least(GENERATION_MS);
    expect([code, out, err]).to.deep.equal([0, 'All cursors of changes and all tags have expired.\n', '']);
    expect(await opened.changes.products.read(end, 10)).to.equal(undefined);
    const later = await opened.changes.products.end();
    await opened.products.insertAll([product(2)]);
    expect((await opened.changes.products.read(later, 10))?.changes).to.deep.equal([product(2)]);
  });
});
