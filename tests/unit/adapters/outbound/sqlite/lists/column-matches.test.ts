import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { LIST_TUNING, planCount, planList } from '#src/adapters/outbound/sqlite/lists/plan.js';
import { SqliteFeedState } from '#src/adapters/outbound/sqlite/records/change-feed.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import type { Filter, Position, SortOrder } from '#src/application/ports/list-query.js';
import { OrderedLists } from '#src/application/records/ordered-lists.js';
import {
  compareInOrder,
  matchesFilter,
  positionOf,
  valuesOf,
} from '#src/application/records/query-semantics.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import {
  anyFilters,
  anyOrder,
  LETTERS,
  PRODUCT,
  valuesOf as valuesFrom,
} from '../../../../../contract/query-scenarios.js';
import { AT, by, idsOf, next, product } from '../../../../../contract/repository/records.js';
import { sized } from '../../../../../support/run-settings.js';
import { ENDLESS, PRODUCTS } from '../../../../../support/tables.js';
import { temporaryFolder } from '../../../../../support/temporary-folder.js';
import { until } from '../../../../../support/until.js';

const attribute = { field: 'attributes', operator: 'attribute', key: 'colour' } as const;
const red: Filter = { ...attribute, value: 'red' };
const all: Filter = { field: 'tags', operator: 'eq', value: 'all' };
const even: Filter = { field: 'tags', operator: 'eq', value: 'even' };
const live: Filter = { field: 'status', operator: 'exists', value: false };
const liveOrDraft: Filter = { field: 'status', operator: 'inOrNone', values: ['draft'] };
const liveOrArchived: Filter = { ...liveOrDraft, values: ['archived'] };
const priced: Filter = { field: 'price.amount', operator: 'gt', value: 400 };
const cheap: Filter = { field: 'price.amount', operator: 'lte', value: 2_500 };

/** Filters that columns serve. */
const SERVED: readonly (readonly Filter[])[] = [
  [all, live],
  [all, liveOrArchived],
  [all, even],
  [red, all, priced, cheap],
  [{ ...attribute, values: ['red', '2'] }, live],
  [{ ...attribute, exists: false }, all],
  [{ field: 'tags', operator: 'in', values: ['even', 't1'] }, priced],
  [
    { field: 'brand', operator: 'eq', value: 'Żubr' },
    { ...attribute, comparison: 'gt', number: 1 },
  ],
];
/** Filters of which one has no column, or which records without any value match. */
const OTHERS: readonly (readonly Filter[])[] = [
  [all, { field: 'name', operator: 'prefix', value: 'product 1' }],
  [all, { field: 'url', operator: 'exists', value: false }],
  [live, { ...attribute, exists: false }],
  [liveOrDraft],
];
const SORTS = [
  ...[
    'id',
    '-id',
    'name,id',
    '-price.amount,-id',
    'price.amount,id',
    '-createdAt,stock,-brand,id',
    '-createdAt,id',
    '-name,id',
  ],
];

/** In three blocks of ids. */
function productAt(at: number): Versioned<Product> {
  const colour = ['red', 2, true, 'true', 'red', 2.5, undefined][at % 7];
  return {
    ...product(at + 1 + (at % 3) * 8_190, {
      name: `product ${at % 13}`,
      ...(at % 5 && { brand: at % 3 ? 'Żubr' : 'Acme' }),
      tags: ['all', `t${at % 3}`, ...(at % 2 ? [] : ['even'])],
      ...(at % 11 === 0 && { status: 'draft' }),
      price: { amount: (at % 40) * 67, currency: 'EUR' },
      ...(at % 4 && { stock: at % 9 }),
      ...(colour !== undefined && { attributes: { colour } }),
    }),
    createdAt: AT + (at % 4),
  };
}

describe('lists by columns in SQLite', () => {
  const folder = temporaryFolder();
  const opened: SqliteDatabase[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((database) => database.close())));

  /** No page is so short that it is read without columns, if these serve it. */
  const open = async (maxSorted: number, tuning = { maxFew: -1, columnRows: -1, maxSorted }) => {
    const database = new SqliteDatabase(join(mkdtempSync(join(folder, 'lists-')), 'catalogue.sqlite'));
    await database.open();
    opened.push(database);
    const products = new SqliteRepository<Product>(database, PRODUCTS, ENDLESS, tuning);
    const holds = (name: string) => products['counter'].cache['kept'].has(name);
    return { database, tuning, products, holds, feed: new SqliteFeedState(database, [PRODUCTS]) };
  };
  type Opened = Awaited<ReturnType<typeof open>>;

  const records = Array.from({ length: 120 }, (_, at) => productAt(at));

  const expected = (current: readonly Versioned<Product>[], filters: readonly Filter[], order: SortOrder) =>
    idsOf(
      current
        .filter((record) => filters.every((filter) => matchesFilter(PRODUCTS, record, filter)))
        .toSorted((a, b) => compareInOrder(order, valuesOf(a, order), valuesOf(b, order))),
    );

  const read = async (
    { products }: Opened,
    filters: readonly Filter[],
    order: SortOrder,
    side: Position['side'],
  ) => {
    const ids: Id[][] = [];
    for (let from: Position = { side, inclusive: true, values: [] }; ; ) {
      const page = await products.list({ limit: 17, filters, order, from });
      ids.push(side === 'before' ? idsOf(page.records).toReversed() : idsOf(page.records));
      const edge = side === 'after' ? page.records.at(-1) : page.records[0];
      if (!page.hasMore || !edge) return side === 'before' ? ids.flat().toReversed() : ids.flat();
      from = positionOf(edge, order, side);
    }
  };

  const expectLists = async (
    one: Opened,
    current: readonly Versioned<Product>[],
    some = SERVED,
    sorts = SORTS,
  ) => {
    for (const filters of some) {
      const text = JSON.stringify(filters);
      expect(await one.products.count(filters), `count of ${text}`).to.equal(
        expected(current, filters, by('id')).length,
      );
      for (const sort of sorts)
        for (const side of ['after', 'before'] as const)
          expect(await read(one, filters, by(sort), side), `${text} by ${sort}, ${side}`).to.deep.equal(
            expected(current, filters, by(sort)),
          );
    }
  };

  const makeColumns = async (one: Opened) => {
    const fields = ['tags', 'status', 'brand', 'price.amount', 'attributes.colour'];
    const orders = ['order of name', 'createdAt'];
    await until('all columns are made', async () => {
      for (const filters of SERVED)
        for (const sort of ['name,id', 'createdAt,id']) {
          await one.products.list({ limit: 1, filters, order: by(sort) });
          await one.products['reader']['making'];
        }
      return [...fields, ...orders].every((field) => one.holds(field));
    });
  };
  /** Whoever looks up a tag or an attribute after this finds nothing. */
  const emptyValues = ({ database }: Opened) =>
    database.write((statement) => statement('DELETE FROM products_values').run());

  for (const [name, maxSorted] of [
    ['sorted', 1_000],
    ['passed by the index of the order', 0],
  ] as const)
    it(`have the records that match, ${name}`, async () => {
      const one = await open(maxSorted);
      await one.feed.turnOn();
      await one.products.insertAll(records);
      await expectLists(one, records, [...SERVED, ...OTHERS]);
      await makeColumns(one);
      await expectLists(one, records, OTHERS);
      await emptyValues(one);
      await expectLists(one, records);
    });

  it('have the records that match any filters, in any order', async () => {
    const generator = PRODUCT(PRODUCTS.fields);
    const scenario = valuesFrom(LETTERS).chain((values) =>
      fc.record({
        all: fc.array(generator.record(values), { minLength: 1, maxLength: 30, size: 'max' }),
        queries: fc.array(
          fc.record({ filters: anyFilters(PRODUCTS.fields, values), order: anyOrder(PRODUCTS.fields) }),
          { minLength: 1, maxLength: 8, size: 'max' },
        ),
        maxSorted: fc.constantFrom(0, 5, 1_000),
      }),
    );
    let served = 0;
    const property = fc.asyncProperty(scenario, async ({ all, queries, maxSorted }) => {
      const one = await open(maxSorted);
      await one.feed.turnOn();
      const current = all.map((fields, at) => ({
        ...product(at * 500 + 1),
        fields: generator.distinct(fields, `-${at}`),
      }));
      await one.products.insertAll(current);
      const lists = new OrderedLists(one.products, PRODUCTS.fields);
      for (const { filters, order } of queries)
        for (let time = 0; time < 2; time++) {
          const { records: found } = await lists.list({ limit: 100, filters, order });
          expect(idsOf(found)).to.deep.equal(expected(current, filters, order));
          expect(await one.products.count(filters)).to.equal(found.length);
          // What the first time found missing is made by now.
          await one.products['reader']['making'];
          if (time === 1 && 'columns' in planCount(one.database, PRODUCTS, filters, one.tuning)) served++;
        }
      await one.database.close();
      opened.length = 0;
    });
    await fc.assert(property, { numRuns: sized({ gate: 8, night: 40 }) });
    expect(served, 'queries that columns serve').to.be.greaterThan(0);
  });

  it('follow writes', async () => {
    const one = await open(1_000);
    await one.feed.turnOn();
    await one.products.insertAll(records);
    await makeColumns(one);
    const changed = records.slice(0, 30).map((record, at) => next(record, productAt(at * 7 + 1).fields));
    await one.products.replaceAll(changed.map((record) => ({ record, expected: record.version - 1 })));
    await one.products.removeAll(
      records.slice(30, 40).map(({ id, version }) => ({ id, expected: version, at: AT })),
    );
    await emptyValues(one);
    await expectLists(one, [...changed, ...records.slice(40)]);
  });

  it('ask no index once the columns remember the filters', async () => {
    const one = await open(1_000, LIST_TUNING);
    await one.feed.turnOn();
    await one.products.insertAll(records);
    const filters = [red, all, priced];
    await one.products.facets({ filters, fields: [{ field: 'brand' }], limit: 1 });
    for (const field of [{ field: 'name', isOrder: true as const }, { field: 'price.amount' }])
      await one.products['counter'].cache.prepare([field]);
    await emptyValues(one);
    await expectLists(one, records, [filters], ['-id', 'name,id', 'price.amount,id']);
    for (const side of ['after', 'before'] as const)
      for (const inclusive of [true, false]) {
        const middle = expected(records, filters, by('price.amount,id'));
        const id = middle[3] as Id;
        const record = records.find((each) => each.id === id) as Versioned<Product>;
        const from = { ...positionOf(record, by('price.amount,id'), side), inclusive };
        const page = await one.products.list({ limit: 100, filters, order: by('price.amount,id'), from });
        const [start, end] = side === 'after' ? [inclusive ? 3 : 4, middle.length] : [0, inclusive ? 4 : 3];
        expect(idsOf(page.records)).to.deep.equal(middle.slice(start, end));
      }
    expect(await one.products.count([red, all]), 'other filters of the same columns').to.equal(
      expected(records, [red, all], by('id')).length,
    );
    expect(await one.products.count([red, even]), 'a filter that no column remembers').to.equal(0);
  });

  it('do not wait for columns that lack many changes, which the service makes current once', async () => {
    const one = await open(1_000);
    await one.feed.turnOn();
    await one.products.insertAll(records);
    await makeColumns(one);
    const moment = () => one.products['counter'].cache['kept'].get('tags')?.moment.change;
    let current = records;
    for (let round = 0; round < 2; round++) {
      const changed = current.map((record, at) => next(record, productAt(at + 1 + round).fields));
      await one.products.replaceAll(changed.map((record) => ({ record, expected: record.version - 1 })));
      current = changed;
    }
    const before = moment();
    const counts = await Promise.all([1, 2, 3].map(() => one.products.count([red, all])));
    const count = expected(current, [red, all], by('id')).length;
    expect(counts).to.deep.equal([count, count, count]);
    expect(moment(), 'is made current afterwards').to.equal(before);
    await one.products['reader']['making'];
    expect(moment()).to.equal((before as number) + 240);
    await emptyValues(one);
    expect(await one.products.count([red, all])).to.equal(count);
  });

  it('are read without columns while no feed is written', async () => {
    const one = await open(1_000);
    await one.products.insertAll(records);
    await expectLists(one, records);
    expect(one.holds('tags')).to.equal(false);
  });

  it('need columns only if others would read many rows', async () => {
    const { database, products } = await open(1_000);
    await products.insertAll(records);
    for (const [columnRows, fields] of [
      [50, ['tags', 'status']],
      [5_000, undefined],
    ] as const) {
      const tuning = { maxFew: 100, maxSorted: 1_000, columnRows };
      const query = { limit: 20, filters: [all, live], order: by('name,id') };
      const plan = planList(database, PRODUCTS, query, tuning);
      expect(plan).to.have.property('kind', 'scan');
      expect('columns' in plan && plan.columns?.fields.map(({ field }) => field)).to.deep.equal(
        fields ?? false,
      );
    }
    expect(planCount(database, PRODUCTS, [all, live])).to.have.property('kind', 'sort');
  });
});
