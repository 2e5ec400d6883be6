import { join } from 'node:path';
import { expect } from 'chai';
import { AdaptiveBatchSize } from '#src/adapters/outbound/sqlite/connection/adaptive-batch-size.js';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import { BY_ID, type Filter } from '#src/application/ports/list-query.js';
import type { Product } from '#src/domain/product.js';
import { yieldToEventLoop } from '#src/shared/event-loop.js';
import { ENDLESS, PRODUCTS } from '../../../../../support/tables.js';
import { temporaryFolder } from '../../../../../support/temporary-folder.js';

describe('the pace of a search in SQLite', () => {
  const sizes = async (pace: AdaptiveBatchSize, count: number) => {
    const found: number[] = [];
    while (found.length < count) found.push(await pace.next());
    return found;
  };
  const taking = (...ms: number[]) => ({ checkpoint: async () => ms.shift() ?? 0 });

  it('doubles after fast slices, but not before the first one', async () => {
    expect(await sizes(new AdaptiveBatchSize(taking()), 8)).to.deep.equal([
      32, 64, 128, 256, 512, 1_024, 1_024, 1_024,
    ]);
  });

  it('grows at once after a slice that was read before', async () => {
    const bounds = { first: 4, min: 1, max: 64 };
    expect(await sizes(new AdaptiveBatchSize(taking(), 1, bounds, 1), 3)).to.deep.equal([8, 16, 32]);
  });

  it('halves after slow slices, and also if the work before the first one was slow', async () => {
    expect(await sizes(new AdaptiveBatchSize(taking(5, 5, 2, 5, 5)), 5)).to.deep.equal([16, 8, 8, 4, 4]);
  });

  it('has the fewer rows the more a row costs, and one at least', async () => {
    expect(await sizes(new AdaptiveBatchSize(taking(0, 0, 0, 0, 0, 5, 5, 5), 10), 8)).to.deep.equal([
      ...[3, 6, 12, 24, 48],
      ...[24, 12, 6],
    ]);
    expect(await sizes(new AdaptiveBatchSize(taking(), 50), 7)).to.deep.equal([1, 2, 4, 8, 16, 20, 20]);
    expect(await sizes(new AdaptiveBatchSize(taking(5, 5), 2_000), 3)).to.deep.equal([1, 1, 1]);
  });
});

/** Counts the statements that read. */
class CountingDatabase extends SqliteDatabase {
  statements = 0;

  override read<Result>(...[sql, use]: Parameters<SqliteDatabase['read']>): Result {
    this.statements++;
    return super.read(sql, use) as Result;
  }

  override inSnapshot<Result>(...[work]: Parameters<SqliteDatabase['inSnapshot']>): Promise<Result> {
    return work(this) as Promise<Result>;
  }
}

describe('filters of 50 attributes in SQLite', () => {
  const RECORDS = 100;
  /** The records that are checked in a turn. */
  const MOST = 20;
  const database = new CountingDatabase(join(temporaryFolder(), 'turns.sqlite'));
  const products = new SqliteRepository<Product>(database, PRODUCTS, ENDLESS);
  const attributes = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, 1]));
  const wanted = Object.keys(attributes).map(
    (key): Filter => ({ field: 'attributes', operator: 'attribute', key, value: '1' }),
  );
  const named: Filter = { field: 'name', operator: 'eq', value: 'x' };

  before(async () => {
    await database.open();
    const fields = { name: 'x', attributes };
    await products.insertAll(
      Array.from({ length: RECORDS }, (_, at) => {
        return { id: at + 1, version: 1, createdAt: 1, updatedAt: 1, fields };
      }),
    );
  });
  after(() => database.close());

  const newestFirst = [{ field: 'createdAt', descending: true }, ...BY_ID];
  for (const [name, filters, order] of [
    ['beside another filter that leaves few', [named, ...wanted], newestFirst],
    ['in order of id', wanted, BY_ID],
  ] as const)
    it(`are checked in some turns of the event loop: a list ${name}`, async () => {
      const turns = await turnsOf(async () => {
        const { records } = await products.list({ limit: 1_000, filters, order });
        expect(records).to.have.length(RECORDS);
      });
      expect(turns).to.be.at.least(RECORDS / MOST);
    });

  it('are checked in some turns of the event loop: counts', async () => {
    for (const filters of [[named, ...wanted], wanted]) {
      const turns = await turnsOf(async () => expect(await products.count(filters)).to.equal(RECORDS));
      expect(turns).to.be.at.least(RECORDS / MOST);
    }
  });

  it('are checked in one turn if the other filter leaves few enough', async () => {
    const one: Filter = {
      field: 'id',
      operator: 'in',
      values: Array.from({ length: MOST }, (_, at) => at + 1),
    };
    const turns = await turnsOf(async () => expect(await products.count([one, ...wanted])).to.equal(MOST));
    expect(turns).to.be.at.most(2);
  });

  /** The number of turns of the event loop in which statements read. */
  async function turnsOf(work: () => Promise<unknown>): Promise<number> {
    let turns = 0;
    let isOver = false;
    database.statements = 0;
    const others = (async () => {
      while (!isOver) {
        if (database.statements > 0) turns++;
        database.statements = 0;
        await yieldToEventLoop();
      }
    })();
    await work();
    isOver = true;
    await others;
    return turns;
  }
});
