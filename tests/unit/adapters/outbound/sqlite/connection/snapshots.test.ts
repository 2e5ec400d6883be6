import { join } from 'node:path';
import { expect } from 'chai';
import type { Reader } from '#src/adapters/outbound/sqlite/connection/connection.js';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
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

  it('lets a running read finish after the store is closed, and rejects a new one', async () => {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const read = database.inSnapshot(async (reader) => {
      await finished;
      return count(reader);
    });
    await new Promise((resolve) => setImmediate(resolve));
    await database.close();
    finish();
    expect(await read).to.be.a('number');
    await expectAppError(
      database.inSnapshot(async () => {}),
      'unavailable',
    );
  });
});
