import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { SqliteArchive } from '#src/adapters/outbound/sqlite/records/archive.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import { BY_ID } from '#src/application/ports/list-query.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import { AT, product } from '../contract/repository/records.js';
import { sized } from '../support/run-settings.js';
import { ENDLESS, PRODUCTS } from '../support/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** Some writes in one call. A stale one expects another version than the current one. */
interface Writes {
  readonly kind: 'insert' | 'replace' | 'remove';
  readonly records: readonly { readonly id: Id; readonly tags: readonly string[]; readonly sku?: string }[];
  readonly isStale: boolean;
}

const TAG = fc.constantFrom('a', 'A', 'a/b', 'é', '"', '\\', '😀', '\u2028');
const RECORD = fc.record(
  {
    id: fc.integer({ min: 1, max: 9 }),
    tags: fc.uniqueArray(TAG, { maxLength: 5 }),
    sku: fc.constantFrom('x', 'y'),
  },
  { requiredKeys: ['id', 'tags'] },
);
const WRITES: fc.Arbitrary<Writes> = fc.record({
  kind: fc.constantFrom('insert', 'insert', 'replace', 'replace', 'remove'),
  records: fc.array(RECORD, { minLength: 1, maxLength: 3 }),
  isStale: fc.nat(5).map((n) => n === 0),
});

describe('the values of lists in SQLite', () => {
  const folder = temporaryFolder();
  const opened: SqliteDatabase[] = [];
  const open = async () => {
    const database = new SqliteDatabase(join(mkdtempSync(join(folder, 'values-')), 'catalogue.sqlite'));
    await database.open();
    opened.push(database);
    return {
      database,
      products: new SqliteRepository<Product>(database, PRODUCTS, ENDLESS),
      archive: new SqliteArchive(database, PRODUCTS),
    };
  };
  type Opened = Awaited<ReturnType<typeof open>>;
  afterEach(async () => {
    for (const database of opened.splice(0)) await database.close();
  });

  const write = async ({ products }: Opened, { kind, records, isStale }: Writes) => {
    const versions = new Map<Id, number>();
    for (const { id } of records) versions.set(id, (await products.find(id))?.version ?? 1);
    const expectedOf = (id: Id) => (versions.get(id) ?? 1) + (isStale ? 7 : 0);
    const all = records.map(({ id, tags, sku }): Versioned<Product> => {
      const fields = { ...(tags.length > 0 && { tags }), ...(sku !== undefined && { sku }) };
      return { ...product(id, fields), version: kind === 'insert' ? 1 : expectedOf(id) + 1 };
    });
    if (kind === 'insert') await products.insertAll(all);
    else if (kind === 'replace')
      await products.replaceAll(all.map((record) => ({ record, expected: record.version - 1 })));
    else await products.removeAll(all.map(({ id }) => ({ id, expected: expectedOf(id), at: AT })));
  };

  const expectValues = async ({ database, products }: Opened) => {
    const { records } = await products.list({ limit: 100, filters: [], order: BY_ID });
    const expected = records.flatMap(({ id, fields: { tags = [] } }) =>
      tags.map((tag) => JSON.stringify(['tags', tag, id])),
    );
    const rows = database.read('SELECT field, value, id FROM products_values', (statement) =>
      statement.all(),
    ) as unknown[];
    expect(rows.map((row) => JSON.stringify(row)).sort()).to.deep.equal(expected.sort());
  };

  it('are those of the records after any writes, and in a copy', async () => {
    const property = fc.asyncProperty(
      fc.array(WRITES, { minLength: 1, maxLength: 20, size: 'max' }),
      fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 4 }),
      async (writes, discarded) => {
        const [source, copy] = [await open(), await open()];
        for (const one of writes) {
          await write(source, one);
          await expectValues(source);
        }
        await copy.archive.add(await source.archive.read(0, 100));
        await expectValues(copy);
        await copy.archive.discard(discarded);
        await expectValues(copy);
        const rest = await source.archive.read(0, 100);
        await copy.archive.add(rest.filter(({ id }) => discarded.includes(id)));
        await expectValues(copy);
        for (const { database } of [source, copy]) await database.close();
        opened.length = 0;
      },
    );
    await fc.assert(property, { numRuns: sized({ gate: 20, night: 200 }) });
  }).timeout(300_000);
});
