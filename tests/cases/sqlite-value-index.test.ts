import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { checkDatabase } from '#src/adapters/outbound/sqlite/diagnostics.js';
import { SqliteArchive } from '#src/adapters/outbound/sqlite/records/archive.js';
import { SqliteDerivedTable } from '#src/adapters/outbound/sqlite/records/derived-data.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import { BY_ID, type Filter } from '#src/application/ports/list-query.js';
import type { Attributes } from '#src/domain/fields.js';
import type { Price, Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import { AT, idsOf, product, query } from '../contract/repository/records.js';
import { RecordingLogger } from '../support/fakes.js';
import { writeOldDatabase } from '../support/old-sqlite.js';
import { sized } from '../support/run-settings.js';
import { ENDLESS, PRODUCTS } from '../support/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** Some writes in one call. A stale one expects another version than the current one. */
interface Writes {
  readonly kind: 'insert' | 'replace' | 'remove';
  readonly records: readonly {
    readonly id: Id;
    readonly tags: readonly string[];
    readonly attributes?: Attributes;
    readonly sku?: string;
    readonly brand?: string;
    readonly stock?: number;
    readonly price?: Price;
  }[];
  readonly isStale: boolean;
}

const TEXT = fc.constantFrom('a', 'A', 'a/b', 'é', '"', '\\', '😀', '\u2028', '1.5', 'true');
/** Numbers that SQLite would read from a text with another last bit are among them. */
const NUMBER = fc.constantFrom(0, 1.5, 5e-324, 0.007411391956661005, -98594.84184871874, 2 ** 53 - 1);
const ATTRIBUTES = fc.dictionary(
  fc.constantFrom('a', 'b', 'a.b', '__proto__', "'"),
  fc.oneof(TEXT, NUMBER, fc.boolean()),
  { minKeys: 1, maxKeys: 12, noNullPrototype: true },
);
const RECORD = fc.record(
  {
    id: fc.integer({ min: 1, max: 9 }),
    tags: fc.uniqueArray(TEXT, { maxLength: 10 }),
    attributes: ATTRIBUTES,
    sku: fc.constantFrom('x', 'y'),
    brand: TEXT,
    stock: fc.nat(1),
    price: fc.record({ amount: fc.nat(1), currency: fc.constantFrom('EUR', 'USD') }),
  },
  { requiredKeys: ['id', 'tags'], noNullPrototype: true },
);
const WRITES: fc.Arbitrary<Writes> = fc.record({
  kind: fc.constantFrom('insert', 'insert', 'replace', 'replace', 'remove'),
  records: fc.array(RECORD, { minLength: 1, maxLength: 3 }),
  isStale: fc.nat(5).map((n) => n === 0),
});

describe('the columns of fields, and the values of lists and attributes, in SQLite', () => {
  const folder = temporaryFolder();
  const opened: SqliteDatabase[] = [];
  const newFile = () => join(mkdtempSync(join(folder, 'values-')), 'catalogue.sqlite');
  const open = async (file = newFile(), logger?: RecordingLogger) => {
    const database = new SqliteDatabase(file, logger);
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
    const all = records.map(({ id, tags, ...others }): Versioned<Product> => {
      const fields = { ...(tags.length > 0 && { tags }), ...others };
      return { ...product(id, fields), version: kind === 'insert' ? 1 : expectedOf(id) + 1 };
    });
    if (kind === 'insert') await products.insertAll(all);
    else if (kind === 'replace')
      await products.replaceAll(all.map((record) => ({ record, expected: record.version - 1 })));
    else await products.removeAll(all.map(({ id }) => ({ id, expected: expectedOf(id), at: AT })));
  };

  const valuesIn = ({ database }: Opened): string[] => {
    const rows = database.read('SELECT field, value, id FROM products_values', (statement) => statement.all()) as [
      string,
      string | number | Buffer,
      Id,
    ][];
    return rows
      .map(([field, value, id]) =>
        JSON.stringify([field, Buffer.isBuffer(value) ? value.equals(Buffer.of(1)) : value, id]),
      )
      .sort();
  };
  /** Expects the columns, and the values, to be those of the fields. */
  const expectDerived = async (one: Opened) => {
    const check = { tables: [PRODUCTS], deep: true, now: AT };
    const { diagnoses } = checkDatabase(one.database.location, check);
    expect(diagnoses.filter(({ verdict }) => verdict === 'wrong')).to.deep.equal([]);
    const { records } = await one.products.list({ limit: 1_000, filters: [], order: BY_ID });
    const expected = records.flatMap(({ id, fields: { tags = [], attributes = {} } }) => [
      ...tags.map((tag) => JSON.stringify(['tags', tag, id])),
      ...Object.entries(attributes).map(([key, value]) => JSON.stringify([`attributes.${key}`, value, id])),
    ]);
    expect(valuesIn(one)).to.deep.equal(expected.sort());
  };

  it('are those of the records after any writes, and in a copy', async () => {
    const property = fc.asyncProperty(
      fc.array(WRITES, { minLength: 1, maxLength: 20, size: 'max' }),
      fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 4 }),
      async (writes, discarded) => {
        const [source, copy] = [await open(), await open()];
        for (const one of writes) {
          await write(source, one);
          await expectDerived(source);
        }
        await copy.archive.add(await source.archive.read(0, 100));
        await expectDerived(copy);
        await copy.archive.discard(discarded);
        await expectDerived(copy);
        const rest = await source.archive.read(0, 100);
        await copy.archive.add(rest.filter(({ id }) => discarded.includes(id)));
        await expectDerived(copy);
        for (const { database } of [source, copy]) await database.close();
        opened.length = 0;
      },
    );
    await fc.assert(property, { numRuns: sized({ gate: 20, night: 200 }) });
  }).timeout(300_000);

  describe('of a file that an earlier release wrote', () => {
    const RECORDS = 150;
    const old = () => {
      const file = newFile();
      const records = Array.from({ length: RECORDS }, (_, at) =>
        product(at + 1, { attributes: { at, colour: at % 2 ? 'red' : 'blue', rare: at % 50 === 0 } }),
      );
      writeOldDatabase(file, records);
      return file;
    };
    const derived = async (one: Opened) => {
      const table = new SqliteDerivedTable(one.database, PRODUCTS);
      while (await table.isStale()) await table.deriveNext();
      return one;
    };
    const attribute = { field: 'attributes', operator: 'attribute' } as const;
    const filters: Filter[][] = [
      [{ ...attribute, key: 'at', value: '7' }],
      [{ ...attribute, key: 'colour', value: 'red' }],
      [{ ...attribute, key: 'colour', values: ['blue', 'green'] }],
      [{ ...attribute, key: 'at', comparison: 'gte', number: 140 }],
      [{ ...attribute, key: 'rare', exists: false }],
      [
        { ...attribute, key: 'rare', value: 'true' },
        { ...attribute, key: 'colour', value: 'blue' },
      ],
    ];
    const found = async ({ products }: Opened) => {
      const pages = filters.map((some) => products.list(query({ filters: some, limit: RECORDS })));
      const counts = await Promise.all(filters.map((some) => products.count(some)));
      return { ids: (await Promise.all(pages)).map(({ records }) => idsOf(records)), counts };
    };

    it('are there once they are made, with its columns, and lists and counts find them', async () => {
      const logger = new RecordingLogger();
      const one = await derived(await open(old(), logger));
      expect(logger.events).to.include('changing the database to the schema of this version');
      const { ids, counts } = await found(one);
      expect(counts).to.deep.equal([1, 75, 75, 10, 0, 3]);
      expect(ids.map(({ length }) => length)).to.deep.equal(counts);
      await expectDerived(one);
    });

    it('are there once if two processes make them at the same time, beside what the first one wrote', async () => {
      const file = old();
      const write = async (one: Opened) => {
        await one.products.insertAll([product(RECORDS + 1, { attributes: { colour: 'new' } })]);
        return one;
      };
      const both = await Promise.all([open(file).then(write), open(file)]);
      await Promise.all(both.map(derived));
      for (const one of both) await expectDerived(one);
    });

    it('are those of JavaScript', async () => {
      const file = newFile();
      const attributes = {
        a: -98594.84184871874,
        b: 0.007411391956661005,
        ['__proto__']: true,
        "'": 'x',
      };
      writeOldDatabase(file, [product(1, { attributes }), product(2)]);
      const one = await derived(await open(file));
      const expected = Object.entries(attributes).map(([key, value]) =>
        JSON.stringify([`attributes.${key}`, value, 1]),
      );
      expect(valuesIn(one)).to.deep.equal(expected.sort());
    });
  });
});
