import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { checkDatabase } from '#src/adapters/outbound/sqlite/diagnostics.js';
import { SqliteArchive } from '#src/adapters/outbound/sqlite/records/archive.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import { ValueIndex } from '#src/adapters/outbound/sqlite/records/value-index.js';
import { BY_ID, type Filter } from '#src/application/ports/list-query.js';
import type { Attributes } from '#src/domain/attributes.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import { attributeContract } from '../contract/repository/attributes.js';
import { AT, idsOf, product, query } from '../contract/repository/records.js';
import { TestStore } from '../contract/repository/test-store.js';
import type { TestStoreProvider } from '../stores/provider.js';
import { SQLITE } from '../stores/sqlite.js';
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
  },
  { requiredKeys: ['id', 'tags'] },
);
const WRITES: fc.Arbitrary<Writes> = fc.record({
  kind: fc.constantFrom('insert', 'insert', 'replace', 'replace', 'remove'),
  records: fc.array(RECORD, { minLength: 1, maxLength: 3 }),
  isStale: fc.nat(5).map((n) => n === 0),
});

describe('the values of lists and attributes in SQLite', () => {
  const folder = temporaryFolder();
  const opened: SqliteDatabase[] = [];
  const newFile = () => join(mkdtempSync(join(folder, 'values-')), 'catalogue.sqlite');
  const open = async (file = newFile()) => {
    const database = new SqliteDatabase(file);
    await database.open();
    opened.push(database);
    return {
      database,
      products: new SqliteRepository<Product>(database, PRODUCTS, ENDLESS),
      archive: new SqliteArchive(database, PRODUCTS),
      index: new ValueIndex(database, PRODUCTS),
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
    const all = records.map(({ id, tags, attributes, sku }): Versioned<Product> => {
      const fields = {
        ...(tags.length > 0 && { tags }),
        ...(attributes && { attributes }),
        ...(sku !== undefined && { sku }),
      };
      return { ...product(id, fields), version: kind === 'insert' ? 1 : expectedOf(id) + 1 };
    });
    if (kind === 'insert') await products.insertAll(all);
    else if (kind === 'replace')
      await products.replaceAll(all.map((record) => ({ record, expected: record.version - 1 })));
    else await products.removeAll(all.map(({ id }) => ({ id, expected: expectedOf(id), at: AT })));
  };

  const valuesIn = ({ database }: Opened): string[] => {
    const rows = database.read('SELECT field, value, id FROM products_values', (statement) =>
      statement.all(),
    ) as [string, string | number | Buffer, Id][];
    return rows
      .map(([field, value, id]) =>
        JSON.stringify([field, Buffer.isBuffer(value) ? value.equals(Buffer.of(1)) : value, id]),
      )
      .sort();
  };
  const expectValues = async (one: Opened) => {
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
    const makeAll = async ({ index }: Opened) => {
      const counts: number[] = [];
      for (let count = await index.indexNext(250); count > 0; count = await index.indexNext(250))
        counts.push(count);
      return counts;
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

    it('are made in batches, and lists and counts are the same meanwhile', async () => {
      const one = await open(old());
      const before = await found(one);
      expect(before.counts).to.deep.equal([1, 75, 75, 10, 0, 3]);
      expect(before.ids.map(({ length }) => length)).to.deep.equal(before.counts);
      expect(await one.index.indexNext(250)).to.equal(64);
      expect(await found(one)).to.deep.equal(before);
      expect(await makeAll(one)).to.deep.equal([64, 22]);
      expect(await found(one)).to.deep.equal(before);
      await expectValues(one);
      expect(await one.index.indexNext(250)).to.equal(0);
    });

    it('are complete for each record that is written meanwhile', async () => {
      const one = await open(old());
      expect(await one.index.indexNext(10)).to.equal(10);
      const edit = async (id: Id, attributes: Attributes | undefined) => {
        const { version = 0 } = (await one.products.find(id)) ?? {};
        const record = { ...product(id, attributes && { attributes }), version: version + 1 };
        expect(await one.products.replaceAll([{ record, expected: version }])).to.deep.equal(['replaced']);
      };
      for (const id of [5, 70]) {
        await edit(id, { at: id - 1, colour: 'green' });
        await edit(id, { at: id - 1, other: true });
      }
      await edit(71, undefined);
      await one.products.removeAll([6, 72].map((id) => ({ id, expected: 1, at: AT })));
      await one.products.insertAll([product(RECORDS + 1, { attributes: { colour: 'new' } })]);
      const values = valuesIn(one).filter((text) => /,(5|70)\]$/.test(text));
      expect(values, 'before their turn').to.deep.equal([
        '["attributes.at",4,5]',
        '["attributes.at",69,70]',
        '["attributes.other",true,5]',
        '["attributes.other",true,70]',
      ]);
      await makeAll(one);
      await expectValues(one);
    });

    it('are made by two processes, and go on after one that ended', async () => {
      const file = old();
      const [one, other] = [await open(file), await open(file)];
      const counts = await Promise.all([
        one.index.indexNext(20),
        other.index.indexNext(20),
        one.index.indexNext(20),
      ]);
      expect(counts).to.deep.equal([20, 20, 20]);
      await one.database.close();
      expect(await makeAll(other)).to.deep.equal([64, 26]);
      await expectValues(other);
    });

    describe('while they are made', () => {
      const behind: TestStoreProvider = {
        ...SQLITE,
        create: async (folder) => {
          const created = await SQLITE.create(folder);
          const { database } = await open(join(folder, 'catalogue.sqlite'));
          await database.write((statement) =>
            statement('UPDATE value_indexes SET old_to = ?').run([Number.MAX_SAFE_INTEGER]),
          );
          await database.close();
          return created;
        },
      };
      attributeContract(TestStore.forEachTest(behind));
    });

    it('are named by the diagnosis until they are made', async () => {
      const file = old();
      const one = await open(file);
      const behind = () =>
        checkDatabase(file, { tables: [{ name: 'products' }], deep: false, now: AT })
          .diagnoses.map(({ message }) => message)
          .filter((message) => message.startsWith('the values'));
      expect(behind()).to.deep.equal([
        'the values of products are not all indexed; the service goes on while it runs',
      ]);
      await makeAll(one);
      expect(behind()).to.deep.equal([]);
    });
  });
});
