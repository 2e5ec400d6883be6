import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/database.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/repository.js';
import { BY_ID, type Filter } from '#src/application/records/list-query.js';
import type { Product } from '#src/domain/product.js';
import { ENDLESS, PRODUCTS } from '../../../../support/tables.js';
import { temporaryFolder } from '../../../../support/temporary-folder.js';

const RECORDS = 300;
/** Bytes of one record, about. */
const SIZE = 100_000;
const MEBIBYTE = 1_048_576;

/** Notes how much each statement brought. */
class WeighingDatabase extends SqliteDatabase {
  brought: number[] = [];
  /** The statements that brought records. */
  statements: string[] = [];

  override read<Result>(...[sql, use]: Parameters<SqliteDatabase['read']>): Result {
    const result = super.read(sql, use) as Result;
    if (Array.isArray(result)) this.brought.push(JSON.stringify(result).length);
    if (/^SELECT id, version/.test(sql)) this.statements.push(sql);
    return result;
  }

  override inSnapshot<Result>(...[work]: Parameters<SqliteDatabase['inSnapshot']>): Promise<Result> {
    return work(this) as Promise<Result>;
  }
}

describe('large records in SQLite', () => {
  const folder = temporaryFolder();
  let database: WeighingDatabase;
  let products: SqliteRepository<Product>;

  before(async () => {
    database = new WeighingDatabase(join(folder, 'large.sqlite'));
    await database.open();
    products = new SqliteRepository<Product>(database, PRODUCTS, ENDLESS);
    const attributes = Object.fromEntries(
      Array.from({ length: 50 }, (_, i) => [`${i}`, 'x'.repeat(SIZE / 50)]),
    );
    await products.insertAll(
      Array.from({ length: RECORDS }, (_, i) => {
        const fields = { name: `name ${i % 7}`, price: { amount: i, currency: 'EUR' }, attributes };
        return { id: i + 1, version: 1, createdAt: 1, updatedAt: 1, fields };
      }),
    );
  });
  after(() => database.close());

  const list = (filters: Filter[], order = BY_ID) => products.list({ limit: 1_000, filters, order });

  it('come some at a time, once one batch has shown how large they are', async () => {
    await list([]);
    database.brought = [];
    const page = await list([]);
    expect(page.records.length).to.be.within(40, 60);
    expect(page.hasMore).to.equal(true);
    expect(Math.max(...database.brought)).to.be.lessThan(MEBIBYTE);
  });

  it('are not all sorted at once because a filter leaves few', async () => {
    const filters: Filter[] = [{ field: 'price.currency', operator: 'eq', value: 'EUR' }];
    const byName = [{ field: 'name', descending: false }, ...BY_ID];
    database.brought = [];
    database.statements = [];
    const page = await list(filters, byName);
    expect(page.records.map(({ fields }) => fields.name)).to.deep.equal(
      page.records.map(() => 'name 0').map((name, i) => (i < 43 ? name : 'name 1')),
    );
    expect(Math.max(...database.brought)).to.be.lessThan(MEBIBYTE);
    expect(database.statements).to.have.length.greaterThan(0);
    expect(database.statements.filter((sql) => !/INDEXED BY products_name /.test(sql))).to.deep.equal([]);
  });

  it('fill a page by their bytes', async () => {
    const page = await products.list({ limit: 1_000, bytes: MEBIBYTE, filters: [], order: BY_ID });
    expect(page.records.length).to.be.within(10, 12);
  });
});
