import { join } from 'node:path';
import { expect } from 'chai';
import type { Reader } from '#src/adapters/outbound/sqlite/connection.js';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/database.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/repository.js';
import type { Product } from '#src/domain/product.js';
import { expectRefusal } from '../../../../support/expect-refusal.js';
import { ENDLESS, PRODUCTS } from '../../../../support/tables.js';
import { temporaryFolder } from '../../../../support/temporary-folder.js';

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
    await products().insert({ id, version: 1, createdAt: 1, updatedAt: 1, fields: { name: 'x' } });
  };
  const count = (reader: Reader) =>
    reader.read('SELECT count(*) FROM products', (statement) => (statement.raw().get() as [number])[0]);

  it('sees nothing of what is written while it is read', async () => {
    await add();
    await database.inSnapshot(async (reader) => {
      const before = count(reader);
      await add();
      expect(count(reader)).to.equal(before);
      expect(count(database)).to.equal(before + 1);
    });
    await database.inSnapshot(async (reader) => expect(count(reader)).to.equal(count(database)));
  });

  it('is lent anew after a reading that failed', async () => {
    const failing = () => database.inSnapshot(() => Promise.reject(new Error('no')));
    for (let time = 1; time <= 5; time++) {
      const outcome = await failing().catch((error: Error) => error.message);
      expect(outcome).to.equal('no');
    }
    await add();
    await database.inSnapshot(async (reader) => expect(count(reader)).to.equal(count(database)));
  });

  it('changes nothing', async () => {
    await add();
    const before = count(database);
    const deletion = database.inSnapshot(async (reader) =>
      reader.read('DELETE FROM products', (statement) => statement.run()),
    );
    await expectRefusal(deletion, 'unavailable');
    expect(count(database)).to.equal(before).and.to.be.greaterThan(0);
  });

  it('is had by two of one client at a time, the others wait, and of too many some are refused', async () => {
    let running = 0;
    let most = 0;
    const reading = (client: string) =>
      database.inSnapshot(async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
      }, client);
    const outcomes = await Promise.allSettled(Array.from({ length: 203 }, () => reading('a')));
    expect(most).to.equal(2);
    expect(outcomes.filter(({ status }) => status === 'rejected')).to.have.length(1);
    most = 0;
    await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f'].flatMap((client) => Array.from({ length: 20 }, () => reading(client))),
    );
    // The sixth client holds nothing, for which there is a reserve.
    expect(most).to.be.within(8, 10);
  });

  it('is not lent by a store that is closed, and ends with its reading where that runs', async () => {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const reading = database.inSnapshot(async (reader) => {
      await finished;
      return count(reader);
    });
    await new Promise((resolve) => setImmediate(resolve));
    await database.close();
    finish();
    expect(await reading).to.be.a('number');
    await expectRefusal(
      database.inSnapshot(async () => {}),
      'unavailable',
    );
  });
});
