import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { CodeColumn } from '#src/adapters/outbound/sqlite/lists/column.js';
import { FacetReader, wayOf } from '#src/adapters/outbound/sqlite/lists/facets.js';
import { FACET_TUNING, type FacetTuning } from '#src/adapters/outbound/sqlite/lists/value-rows.js';
import { SqliteFeedState } from '#src/adapters/outbound/sqlite/records/change-feed.js';
import { SqliteRepository, SqliteTombstones } from '#src/adapters/outbound/sqlite/records/repository.js';
import type { FacetField, FacetQuery, Filter } from '#src/application/ports/list-query.js';
import { FacetCounter } from '#src/application/records/facets.js';
import { matchesFilter } from '#src/application/records/query-semantics.js';
import type { Product } from '#src/domain/product.js';
import type { Versioned } from '#src/domain/record.js';
import { AT, next, product } from '../../../../../contract/repository/records.js';
import { expectAppError } from '../../../../../support/expect-refusal.js';
import { ENDLESS, PRODUCTS } from '../../../../../support/tables.js';
import { temporaryFolder } from '../../../../../support/temporary-folder.js';

/** So few that slices end within values. */
const ROWS = { first: 16, min: 16, max: 16 };

const FIELDS: FacetField[] = [
  ...['tags', 'brand', 'status', 'group', 'price.currency'].map((field) => ({ field })),
  { field: 'attributes', key: 'colour' },
  { field: 'attributes', key: 'a"b' },
];

const attribute = (test: object): Filter =>
  ({ field: 'attributes', operator: 'attribute', key: 'colour', ...test }) as Filter;
const live: Filter = { field: 'status', operator: 'exists', value: false };
const tag = (value: string): Filter => ({ field: 'tags', operator: 'eq', value });
const amount = (operator: 'lt' | 'lte' | 'gt' | 'gte' | 'ne' | 'eq', value: number): Filter => ({
  field: 'price.amount',
  operator,
  value,
});

const FILTERS: readonly (readonly Filter[])[] = [
  [],
  [live],
  [tag('all')],
  [tag('rare')],
  [tag('t1'), tag('even')],
  [{ field: 'tags', operator: 'in', values: ['t1', 'even', 'none'] }],
  [{ field: 'tags', operator: 'prefix', value: 't' }, live],
  [{ field: 'tags', operator: 'exists', value: false }],
  [attribute({ value: 'red' })],
  [attribute({ value: '2' }), tag('even')],
  [attribute({ values: ['red', 'true'] }), live],
  [attribute({ comparison: 'gte', number: 2 })],
  [attribute({ exists: false })],
  [attribute({ exists: false }), tag('all')],
  [attribute({ exists: true }), live],
  [attribute({ values: ['red', 'true', '2'] }), tag('all')],
  [attribute({ comparison: 'lt', number: 2.5 }), tag('all'), attribute({ comparison: 'gt', number: 1 })],
  [{ field: 'url', operator: 'exists', value: false }, live],
  [amount('gt', 111), amount('lte', 1_850)],
  [amount('gte', 111), amount('lt', 1_850)],
  [amount('gte', 111), amount('lt', 1_850), tag('all'), attribute({ value: 'red' })],
  [amount('ne', 0), live],
  [{ field: 'price.amount', operator: 'exists', value: false }],
  [{ field: 'brand', operator: 'ne', value: 'Acme' }],
  [{ field: 'brand', operator: 'gte', value: 'B' }, live],
  [{ field: 'name', operator: 'prefix', value: 'product 1' }, live],
  [{ field: 'id', operator: 'gt', value: 8_000 }, tag('all')],
  [{ field: 'id', operator: 'in', values: [3, 20_000, 7] }],
  [{ field: 'url', operator: 'exists', value: false }, tag('even')],
  [{ field: 'q', operator: 'search', words: ['prod', '1'] }, live],
  [{ field: 'q', operator: 'search', words: ['product'] }, tag('even'), amount('gte', 100)],
  [tag('all'), tag('none')],
];

function productAt(at: number, id = at + 1 + (at % 3) * 8_190): Versioned<Product> {
  const colours = ['red', 2, true, 'true', false, 2.5, 'blue'];
  const colour = colours[at % 9];
  return product(id, {
    name: `product ${at}`,
    ...(at % 5 && { brand: at % 3 ? 'Żubr' : `Acme ${at % 2}` }),
    ...(at % 4 && {
      tags: ['all', `t${at % 3}`, ...(at % 2 ? [] : ['even']), ...(at === 9 ? ['rare'] : [])],
    }),
    ...(at % 11 === 0 && { status: 'draft' }),
    ...(at % 2 && { group: `g${at}` }),
    ...(at % 6 && { price: { amount: at * 37, currency: at % 7 ? 'EUR' : 'JPY' } }),
    attributes: { ...(colour !== undefined && { colour }), ...(at % 10 === 0 && { 'a"b': at }) },
  });
}

function expected(records: Iterable<Versioned<Product>>, query: FacetQuery) {
  const counter = new FacetCounter(query);
  for (const record of records)
    if (query.filters.every((filter) => matchesFilter(PRODUCTS, record, filter))) counter.add(record.fields);
  return counter.facets();
}

describe('facets in SQLite', () => {
  const folder = temporaryFolder();
  const opened: SqliteDatabase[] = [];
  const open = async (file = join(mkdtempSync(join(folder, 'facets-')), 'catalogue.sqlite')) => {
    const database = new SqliteDatabase(file);
    await database.open();
    opened.push(database);
    return {
      database,
      file,
      feed: new SqliteFeedState(database, [PRODUCTS]),
      products: new SqliteRepository<Product>(database, PRODUCTS, ENDLESS),
      counting: (tuning: Partial<FacetTuning> = {}) =>
        new FacetReader(database, PRODUCTS, ENDLESS, { ...FACET_TUNING, rows: ROWS, ...tuning }),
    };
  };
  afterEach(() => Promise.all(opened.splice(0).map((database) => database.close())));

  const records = Array.from({ length: 100 }, (_, at) => productAt(at));
  const queries = FILTERS.flatMap((filters, at): FacetQuery[] => [
    { filters, fields: FIELDS, limit: 100 },
    at % 2 === 0
      ? { filters, fields: FIELDS.slice(0, 1), limit: 2, prefix: 't' }
      : { filters, fields: FIELDS.slice(3, 6), limit: 2, after: { value: 'red', count: 7 } },
  ]);
  // The last brand has the highest count. The last part of it that a slice reads has fewer records than other brands.
  queries.push({ filters: [], fields: FIELDS, limit: 1 });
  const results = queries.map((query) => expected(records, query));
  const expectCounts = async (facets: FacetReader) => {
    for (const [at, query] of queries.entries())
      expect(await facets.facets(query), JSON.stringify(query)).to.deep.equal(results[at]);
  };

  it('are the same in each way', async () => {
    const { database, feed, products, counting } = await open();
    await products.insertAll(records);
    await expectCounts(counting({ record: 0, field: 0 }));
    await expectCounts(counting({ record: Number.POSITIVE_INFINITY }));
    await expectCounts(counting({ record: 0, field: 0, maxValues: 20, checked: 0 }));
    await feed.turnOn();
    await expectCounts(counting());
    await expectCounts(counting({ columnBytes: 300_000 }));
    await database.write((statement) => {
      statement("DELETE FROM products_values WHERE field LIKE 'attributes.%'").run();
      statement("UPDATE value_indexes SET done_to = 0, old_to = 20000 WHERE name = 'products'").run();
    });
    await expectCounts(counting());
  });

  it('are read from the index if a field has more values than a column holds', () => {
    const column = new CodeColumn();
    const values = Array.from({ length: 65_535 }, (_, at) => `v${at}`);
    expect(values.every((value, at) => column.add(value, [at]))).to.equal(true);
    expect([column.add('v7', [1]), column.add('more', [2]), column.set(3, ['more'])]).to.deep.equal([
      true,
      false,
      false,
    ]);
  });

  const ways: [matching: number, isComplement: boolean, fields: number, way: string][] = [
    [0, false, 1, 'records'],
    [50_000, false, 1, 'records'],
    [60_000, false, 1, 'index'],
    [100_000, false, 3, 'records'],
    [140_000, false, 3, 'index'],
    [0, true, 1, 'index'],
    [10, true, 5, 'index'],
  ];
  for (const [size, isComplement, fields, way] of ways)
    it(`of ${fields} fields of ${size} of a million records${isComplement ? ' left out' : ''} are counted by ${way}`, () => {
      expect(wayOf({ ids: { size }, isComplement }, fields, 1_000_000)).to.equal(way);
    });

  it('are refused while attributes have no index, if they have too many values', async () => {
    const { database, products, counting } = await open();
    await products.insertAll(records);
    await database.write((statement) =>
      statement("UPDATE value_indexes SET done_to = 0, old_to = 20000 WHERE name = 'products'").run(),
    );
    const fields = [{ field: 'attributes', key: 'a"b' }];
    const counted = counting({ maxValues: 5 }).facets({ filters: [], fields, limit: 1 });
    await expectAppError(counted, 'query_too_expensive');
  });

  it('follow every write, of other programs too, and a feed that is reset or was off', async () => {
    const id = fc.constantFrom(1, 2, 3, 8_191, 8_192, 20_000);
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ write: id, value: fc.nat(40), byOther: fc.boolean() }) },
      fc.record({ remove: id, byOther: fc.boolean() }),
      fc.record({ feed: fc.constantFrom('reset' as const, 'off' as const, 'purge' as const) }),
    );
    const scenario = fc.array(fc.tuple(fc.array(step, { maxLength: 6 }), fc.constantFrom(...queries)), {
      minLength: 3,
      maxLength: 12,
    });
    const property = fc.asyncProperty(scenario, fc.constantFrom(2, 20_000), async (parts, columnChanges) => {
      const own = await open();
      const other = await open(own.file);
      await own.feed.turnOn();
      const facets = own.counting({ columnChanges });
      const current = new Map<number, Versioned<Product>>();
      const removed = new Set<number>();
      for (const [steps, query] of parts) {
        for (const one of steps) {
          if ('feed' in one) {
            if (one.feed === 'off') await own.feed.turnOff();
            else if (one.feed === 'reset') await own.feed.reset();
            else await new SqliteTombstones(own.database, PRODUCTS).purgeBefore(AT + 1, 100);
            continue;
          }
          const { products } = one.byOther ? other : own;
          const known = current.get('write' in one ? one.write : one.remove);
          if ('remove' in one) {
            if (!known) continue;
            await products.removeAll([{ id: one.remove, expected: known.version, at: AT }]);
            current.delete(one.remove);
            removed.add(one.remove);
          } else if (!removed.has(one.write)) {
            const { fields } = productAt(one.value, one.write);
            const record = known ? next(known, fields) : productAt(one.value, one.write);
            if (known) await products.replaceAll([{ record, expected: known.version }]);
            else await products.insertAll([record]);
            current.set(one.write, record);
          }
          if (one.byOther) await own.feed.turnOn();
        }
        expect(await facets.facets(query)).to.deep.equal(expected(current.values(), query));
      }
      await Promise.all([own.database.close(), other.database.close()]);
    });
    await fc.assert(property, { numRuns: 20 });
  });

  it('see one moment, though others count and write meanwhile', async () => {
    const { feed, products, counting } = await open();
    await feed.turnOn();
    await products.insertAll(records);
    const facets = counting();
    const query: FacetQuery = { filters: [live], fields: FIELDS, limit: 100 };
    const current = new Map(records.map((record) => [record.id, record]));
    await facets.facets(query);
    for (const record of records.slice(0, 10)) {
      const changed = next(record, productAt(record.id % 50).fields);
      const before = expected(current.values(), query);
      const written = products.replaceAll([{ record: changed, expected: record.version }]);
      const counts = [facets.facets(query), facets.facets(query)];
      current.set(record.id, changed);
      const after = expected(current.values(), query);
      for (const count of await Promise.all(counts)) expect([before, after]).to.deep.include(count);
      await written;
      expect(await facets.facets(query)).to.deep.equal(after);
    }
  });
});
