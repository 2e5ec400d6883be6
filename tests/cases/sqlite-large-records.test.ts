import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import { BY_ID, type Filter } from '#src/application/ports/list-query.js';
import type { Product } from '#src/domain/product.js';
import { ENDLESS, PRODUCTS } from '../support/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const RECORDS = 150;
/** The approximate size of one record in bytes. */
const SIZE = 100_000;
const MEBIBYTE = 1_048_576;

/** Records the size of the result of each statement. */
class MeasuringDatabase extends SqliteDatabase {
  resultSizes: number[] = [];
  statements: string[] = [];

  override read<Result>(...[sql, use]: Parameters<SqliteDatabase['read']>): Result {
    const result = super.read(sql, use) as Result;
    if (Array.isArray(result)) this.resultSizes.push(JSON.stringify(result).length);
    this.statements.push(sql);
    return result;
  }

  override inSnapshot<Result>(...[work]: Parameters<SqliteDatabase['inSnapshot']>): Promise<Result> {
    return work(this) as Promise<Result>;
  }
}

describe('large records in SQLite', () => {
  const folder = temporaryFolder();
  let database: MeasuringDatabase;
  let products: SqliteRepository<Product>;

  before(async () => {
    database = new MeasuringDatabase(join(folder, 'large.sqlite'));
    await database.open();
    products = new SqliteRepository<Product>(database, PRODUCTS, ENDLESS);
    const attributes = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`${i}`, 'x'.repeat(SIZE / 50)]));
    await products.insertAll(
      Array.from({ length: RECORDS }, (_, i) => {
        const fields = { name: `name ${i % 7}`, price: { amount: i, currency: 'EUR' }, attributes };
        return { id: i + 1, version: 1, createdAt: 1, updatedAt: 1, fields };
      }),
    );
    await products.insertAll(
      Array.from({ length: 200 }, (_, i) => {
        return { id: RECORDS + i + 1, version: 1, createdAt: 1, updatedAt: 1, fields: { name: 'small' } };
      }),
    );
  });
  after(() => database.close());

  const list = (filters: Filter[], order = BY_ID) => products.list({ limit: 1_000, filters, order });

  it('are read in smaller batches once the first batch has shown their size', async () => {
    await list([]);
    database.resultSizes = [];
    const page = await list([]);
    expect(page.records.length).to.be.within(40, 60);
    expect(page.hasMore).to.equal(true);
    expect(Math.max(...database.resultSizes)).to.be.lessThan(MEBIBYTE);
  });

  it('are read in smaller batches also after a page of small records', async () => {
    await list([]);
    const position = { side: 'after', inclusive: false, values: [RECORDS] } as const;
    await products.list({ limit: 100, filters: [], order: BY_ID, from: position });
    database.resultSizes = [];
    await list([]);
    expect(Math.max(...database.resultSizes)).to.be.lessThan(4 * MEBIBYTE);
  });

  it('are searched by the index of a filter that leaves few of them, and not sorted at once', async () => {
    const filters: Filter[] = [{ field: 'price.currency', operator: 'eq', value: 'EUR' }];
    const byName = [{ field: 'name', descending: false }, ...BY_ID];
    database.resultSizes = [];
    database.statements = [];
    const page = await list(filters, byName);
    expect(page.records.map(({ fields }) => fields.name)).to.deep.equal(
      page.records.map(() => 'name 0').map((name, i) => (i < RECORDS / 7 ? name : 'name 1')),
    );
    expect(Math.max(...database.resultSizes)).to.be.lessThan(MEBIBYTE);
    expect(database.statements.filter((sql) => /INDEXED BY products_name/.test(sql))).to.deep.equal([]);
  });

  it('fill a page up to its limit in bytes', async () => {
    const page = await products.list({ limit: 1_000, bytes: MEBIBYTE, filters: [], order: BY_ID });
    expect(page.records.length).to.be.within(10, 12);
  });
});
