import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import type { Filter, Position } from '#src/application/ports/list-query.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import { keysOf, sorted } from '../../../../../contract/repository/expected.js';
import { AT, by, idsOf, product, query } from '../../../../../contract/repository/records.js';
import { ENDLESS, PRODUCTS } from '../../../../../support/tables.js';
import { temporaryFolder } from '../../../../../support/temporary-folder.js';

/** More records than this have one time of creation; a few others have an earlier or a later one. */
const TIES = 12_000;
const OTHERS = 60;
const LIMIT = 50;

describe('a page among 12,000 ties in SQLite', () => {
  const folder = temporaryFolder();
  const all = Array.from({ length: TIES + OTHERS }, (_, i): Versioned<Product> => {
    const createdAt = AT + (i % 500 === 0 ? (i % 1_000) - 250 : 0);
    return { id: i + 1, version: 1, createdAt, updatedAt: AT, fields: { name: `n${i % 3}` } };
  });
  let database: SqliteDatabase;
  let products: SqliteRepository<Product>;

  before(async () => {
    database = new SqliteDatabase(join(folder, 'ties.sqlite'));
    await database.open();
    products = new SqliteRepository<Product>(database, PRODUCTS, ENDLESS);
    for (let at = 0; at < all.length; at += 5_000) await products.insertAll(all.slice(at, at + 5_000));
  });
  after(() => database.close());

  /** The ids of a page in the direction of reading. */
  const read = async (order: string, from: Position, filters: readonly Filter[] = []): Promise<Id[]> => {
    const ids = idsOf((await products.list(query({ limit: LIMIT, order: by(order), from, filters }))).records);
    return from.side === 'after' ? ids : ids.toReversed();
  };

  for (const order of ['createdAt,id', 'createdAt,-id', '-createdAt,id', '-createdAt,-id']) {
    for (const side of ['after', 'before'] as const) {
      it(`follows any record, by ${order}, ${side} it`, async () => {
        const inOrder = sorted(all, by(order));
        const list = side === 'after' ? inOrder : inOrder.toReversed();
        const first = list.findIndex(({ createdAt }) => createdAt === AT);
        const last = list.findLastIndex(({ createdAt }) => createdAt === AT);
        for (const at of [0, first - 10, first, first + 10, TIES / 2, last - 10, last, last + 1]) {
          const record = list[at];
          if (!record) throw new Error(`There is no record ${at}.`);
          for (const inclusive of [false, true]) {
            const from = { side, inclusive, values: keysOf(record, by(order)) };
            const start = inclusive ? at : at + 1;
            expect(await read(order, from), `${at}`).to.deep.equal(idsOf(list.slice(start, start + LIMIT)));
          }
        }
      });
    }
  }

  it('ends at the range of a filter', async () => {
    const from: Position = { side: 'after', inclusive: false, values: [AT, TIES] };
    const filters = (operator: 'lte' | 'lt'): Filter[] => [{ field: 'createdAt', operator, value: AT }];
    const rest = all.slice(TIES).filter(({ createdAt }) => createdAt === AT);
    expect(await read('createdAt,id', from, filters('lte'))).to.deep.equal(idsOf(rest.slice(0, LIMIT)));
    expect(await read('createdAt,id', from, filters('lt'))).to.deep.equal([]);
  });
});

describe('a page of SQLite whose records another process deletes', () => {
  const folder = temporaryFolder();

  it('goes on with the records behind them', async () => {
    const file = join(folder, 'shared.sqlite');
    const other = new Database(file);
    /** Lets the other process commit after the statement that finds the last value of the page. */
    class SharedDatabase extends SqliteDatabase {
      override read<Result>(...[sql, use]: Parameters<SqliteDatabase['read']>): Result {
        const result = super.read(sql, use) as Result;
        if (sql.startsWith('SELECT created_at')) other.exec('DELETE FROM products WHERE id > 50');
        return result;
      }
    }
    const database = new SharedDatabase(file);
    await database.open();
    const products = new SqliteRepository<Product>(database, PRODUCTS, ENDLESS);
    const all = Array.from({ length: 100 }, (_, i) => ({ ...product(i + 1), createdAt: AT + i }));
    await products.insertAll(all);
    const page = await products.list(query({ limit: 20, order: by('-createdAt,id') }));
    expect(idsOf(page.records)).to.deep.equal(Array.from({ length: 20 }, (_, i) => 50 - i));
    expect(page.hasMore).to.equal(true);
    other.close();
    await database.close();
  });
});
