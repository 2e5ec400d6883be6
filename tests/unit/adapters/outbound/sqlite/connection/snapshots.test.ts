import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { type Reader, StatementCache } from '#src/adapters/outbound/sqlite/connection/connection.js';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { DRIVER_THREADS } from '#src/adapters/outbound/sqlite/connection/readers.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import { sql } from '#src/adapters/outbound/sqlite/sql/schema.js';
import type { Product } from '#src/domain/product.js';
import { Task } from '#src/shared/task-scheduler.js';
import { expectAppError } from '../../../../../support/expect-refusal.js';
import { ENDLESS, PRODUCTS } from '../../../../../support/tables.js';
import { temporaryFolder } from '../../../../../support/temporary-folder.js';

describe('a snapshot of SQLite', () => {
  const folder = temporaryFolder();
  let database: SqliteDatabase;

  beforeEach(async () => {
    database = new SqliteDatabase(join(folder, 'snapshots.sqlite'));
    await database.open();
  });
  afterEach(() => database.close());

  const products = () => new SqliteRepository<Product>(database, PRODUCTS, ENDLESS);
  const add = async () => {
    const id = await products().reserveIds(1);
    await products().insertAll([{ id, version: 1, createdAt: 1, updatedAt: 1, fields: { name: 'x' } }]);
  };
  const count = (reader: Reader) => reader.row<[number]>(sql('SELECT count(*) FROM products'))?.[0];

  it('does not see writes that follow its start', async () => {
    await add();
    await database.inSnapshot(async (reader) => {
      const before = count(reader);
      await add();
      expect(count(reader)).to.equal(before);
      expect(count(database)).to.equal((before ?? 0) + 1);
    });
    await database.inSnapshot(async (reader) => expect(count(reader)).to.equal(count(database)));
  });

  it('is reusable after a read that failed', async () => {
    const failing = () => database.inSnapshot(() => Promise.reject(new Error('no')));
    for (let time = 1; time <= 5; time++) {
      const outcome = await failing().catch((error: Error) => error.message);
      expect(outcome).to.equal('no');
    }
    await add();
    await database.inSnapshot(async (reader) => expect(count(reader)).to.equal(count(database)));
  });

  it('rejects writes', async () => {
    await add();
    const before = count(database);
    const deletion = database.inSnapshot(async (reader) => reader.row(sql('DELETE FROM products RETURNING id')));
    await expectAppError(deletion, 'unavailable');
    expect(count(database)).to.equal(before).and.to.be.greaterThan(0);
  });

  it('serves two reads per client at a time, queues the others, and rejects those above the queue limit', async () => {
    let running = 0;
    let most = 0;
    const read = (client: string) =>
      database.inSnapshot(async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
      }, new Task(client));
    const outcomes = await Promise.allSettled(Array.from({ length: 203 }, () => read('a')));
    expect(most).to.equal(2);
    expect(outcomes.filter(({ status }) => status === 'rejected')).to.have.length(1);
    most = 0;
    await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f'].flatMap((client) => Array.from({ length: 20 }, () => read(client))),
    );
    // A reserve serves clients that hold nothing, such as the sixth.
    expect(most).to.be.within(8, 10);
  });

  it('ends before the store is closed, which lets no other begin', async () => {
    const client = new Task('a');
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    await Promise.all([1, 2].map(() => database.inSnapshot(async () => {}, client)));
    const running = database.inSnapshot(async (reader) => {
      await finished;
      return count(reader);
    }, client);
    const second = database.inSnapshot(() => finished, client);
    const waiting = expectAppError(
      database.inSnapshot(async () => {}, client),
      'unavailable',
    );
    await new Promise((resolve) => setImmediate(resolve));
    const closed = database.close().then(() => 'closed');
    await new Promise((resolve) => setImmediate(resolve));
    await expectAppError(
      database.inSnapshot(async () => {}),
      'unavailable',
    );
    expect(await Promise.race([closed, Promise.resolve('open')])).to.equal('open');
    finish();
    expect(await running).to.be.a('number');
    await Promise.all([second, waiting, closed]);
  });

  it('counts the connections that are used, idle and waited for', async () => {
    const pools = () => Object.fromEntries(database.pools().map(({ pool, ...figures }) => [pool, figures]));
    const rest = { used: 0, waiting: 0, timeouts: 0 };
    expect(new SqliteDatabase('unopened.sqlite').pools()).to.deep.equal([]);
    expect(pools()).to.deep.equal({
      writer: { ...rest, idle: 1, max: 1 },
      readers: { ...rest, idle: 0, max: 16 },
      threads: { ...rest, idle: 0, max: DRIVER_THREADS },
    });
    const writes = [database.write(() => 1), database.write(() => 2)];
    expect(pools()['writer']).to.include({ used: 1, idle: 0, waiting: 2 });
    await Promise.all(writes);
    expect(pools()['writer']).to.include({ used: 0, idle: 1, waiting: 0 });
    await database.inSnapshot(async () => {
      expect(pools()['readers']).to.include({ used: 1, idle: 0 });
    });
    expect(pools()['readers']).to.include({ used: 0, idle: 1 });
  });
});

describe('the prepared statements of SQLite', () => {
  const textsOf = (cache: StatementCache) => [...cache['statements'].keys()];

  it('are bounded by their number and by the characters of their texts', () => {
    const connection = new Database(':memory:');
    const cache = new StatementCache(connection);
    for (let i = 0; i < 300; i++) cache.statement(`SELECT ${i}`);
    expect(textsOf(cache)).to.have.length(200);
    expect(textsOf(cache)).to.include('SELECT 299').and.not.include('SELECT 99');
    const long = (i: number) => `SELECT '${'x'.repeat(20_000)}', ${i}`;
    for (let i = 0; i < 30; i++) cache.statement(long(i));
    expect(textsOf(cache).join('').length).to.be.within(100_000, 131_072);
    expect(textsOf(cache)).to.include(long(29));
    expect(cache.row({ text: 'SELECT 7', values: [] })).to.deep.equal([7]);
    connection.close();
  });
});
