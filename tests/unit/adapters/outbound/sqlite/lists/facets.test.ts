import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { CodeColumn, NumberColumn, TextColumn } from '#src/adapters/outbound/sqlite/lists/column.js';
import { ColumnCache, columnName } from '#src/adapters/outbound/sqlite/lists/columns.js';
import { FacetReader, wayOf } from '#src/adapters/outbound/sqlite/lists/facets.js';
import { FACET_TUNING, type FacetTuning } from '#src/adapters/outbound/sqlite/lists/value-rows.js';
import { SqliteFeedState } from '#src/adapters/outbound/sqlite/records/change-feed.js';
import { SqliteRepository, SqliteTombstones } from '#src/adapters/outbound/sqlite/records/repository.js';
import { QueryBudget } from '#src/application/maintenance/query-budget.js';
import type { FacetField, FacetQuery, Filter } from '#src/application/ports/list-query.js';
import { FacetCounter } from '#src/application/records/facets.js';
import { matchesFilter } from '#src/application/records/query-semantics.js';
import { unavailable } from '#src/domain/errors.js';
import type { Product } from '#src/domain/product.js';
import type { Versioned } from '#src/domain/record.js';
import { SERVICE_TURN } from '#src/shared/turn.js';
import { AT, next, product } from '../../../../../contract/repository/records.js';
import { expectAppError } from '../../../../../support/expect-refusal.js';
import { UnevenClock } from '../../../../../support/fakes.js';
import { sized } from '../../../../../support/run-settings.js';
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
  [{ field: 'status', operator: 'inOrNone', values: ['archived'] }],
  [{ field: 'status', operator: 'inOrNone', values: ['draft'] }, tag('all')],
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
      counting: (tuning: Partial<FacetTuning> = {}, budget = ENDLESS) =>
        new FacetReader(database, PRODUCTS, budget, { ...FACET_TUNING, rows: ROWS, ...tuning }),
      caching: (tuning: Partial<FacetTuning> = {}) =>
        new ColumnCache(database, PRODUCTS, ENDLESS, { ...FACET_TUNING, ...tuning }),
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
    const { feed, products, counting } = await open();
    await products.insertAll(records);
    await expectCounts(counting({ record: 0, field: 0 }));
    await expectCounts(counting({ record: Number.POSITIVE_INFINITY }));
    await expectCounts(counting({ record: 0, field: 0, maxValues: 20, checked: 0 }));
    await feed.turnOn();
    await expectCounts(counting());
    await expectCounts(counting({ columnBytes: 300_000 }));
  });

  it('are read from the index if a field has more values than a column holds', () => {
    const column = new CodeColumn();
    const values = Array.from({ length: 65_535 }, (_, at) => `v${at}`);
    expect(values.every((value, at) => column.add(value, [at]))).to.equal(true);
    for (const finishing = column.finish(); !finishing.next().done; );
    expect([column.add('v7', [1]), column.add('more', [2]), column.set(3, ['more'])]).to.deep.equal([
      true,
      false,
      false,
    ]);
  });

  it('see a column as it was, though a fork of it follows changes', () => {
    const ids = [7, 8, 9];
    const valuesIn = (column: CodeColumn) =>
      ids.map((id) => {
        const counts = new Uint32Array(column.values.length + 1);
        column.count(0, Uint16Array.of(id), counts);
        return column.values.filter((_, at) => counts[at + 1]);
      });
    const states = new Map(ids.map((id): [number, string[]] => [id, []]));
    let column = new CodeColumn();
    const changes: [number, string[]][] = [
      [7, ['a', 'b', 'c']],
      [8, ['d']],
      [9, []],
      [7, ['c', 'e']],
      [9, ['f', 'g']],
      [7, []],
    ];
    for (const [id, values] of changes) {
      const before = valuesIn(column);
      const fork = column.fork();
      fork.set(id, values);
      expect(valuesIn(column)).to.deep.equal(before);
      expect(valuesIn(fork)).to.deep.equal([...states.set(id, values).values()]);
      column = fork;
    }
    const prices = new NumberColumn();
    prices.set(7, 10);
    const later = prices.fork();
    later.set(7, 20);
    later.set(6, 20);
    const narrowed = [prices, later].map((one) => one.narrow(0, Uint16Array.of(6, 7), 10, 20));
    expect(narrowed.map((places) => [...places])).to.deep.equal([[7], [6, 7]]);
  });

  it('remember what 16 filters of a column select, and no long filter', () => {
    const column = new CodeColumn();
    const [first, ...others] = Array.from({ length: 16 }, (_, at) => tag(`t${at}`)) as [Filter, ...Filter[]];
    for (const filter of [first, ...others]) column.selections.of([filter]);
    column.selections.of([first]);
    column.fork().selections.of([tag('new')]);
    const known = (filter: Filter) => column.selections.has([filter]);
    expect([known(first), others.map(known).indexOf(true), known(tag('new'))]).to.deep.equal([true, 1, true]);
    column.selections.of([tag('x'.repeat(300))]);
    expect([known(tag('x'.repeat(300))), known(first)]).to.deep.equal([false, true]);
  });

  it('of texts count their bytes, leave out replaced ones, and hold 64 a record at most', () => {
    const column = new TextColumn();
    const before = column.bytes;
    for (let id = 0; id < 8_000; id++) column.set(id, 'ż'.repeat(20));
    const full = column.bytes - before;
    expect(full).to.be.within(2 * 4 * 8_192 + 8_000 * 40, 2 * 4 * 8_192 + 8_000 * 40 * 1.5 + 1_024);
    for (let id = 0; id < 8_000; id++) column.set(id, `${'y'.repeat(30)}${id}`);
    expect(column.bytes - before).to.be.at.most(1.1 * full);
    const held = Array.from({ length: 8_000 }, (_, id) => column.set(id, `${'z'.repeat(70)}${id}`));
    expect([held[0], held.at(-1)]).to.deep.equal([true, false]);
  });

  it('have texts in the order of code points, before and after changes', () => {
    const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 12 }), { minLength: 2, maxLength: 8 });
    const property = fc.property(fc.array(texts, { minLength: 2, maxLength: 30 }), (rounds) => {
      const known = new Map<number, string>();
      let column = new TextColumn();
      for (const [round, some] of rounds.entries()) {
        const before = new Map(known);
        const seen = column;
        column = column.fork();
        for (const [at, text] of some.entries()) {
          const id = ((round + at) % 5) * 4_096;
          column.set(id, text);
          known.set(id, text);
        }
        for (const [one, state] of [
          [seen, before],
          [column, known],
        ] as const)
          for (const [id, text] of state)
            for (const [other, otherText] of state) {
              const [block, otherBlock] = [id, other].map((each) => one.block(Math.floor(each / 8_192)));
              const order = one.compare(block as never, id % 8_192, otherBlock as never, other % 8_192);
              const expectedOrder = Buffer.compare(Buffer.from(text), Buffer.from(otherText));
              expect(Math.sign(order)).to.equal(expectedOrder);
            }
      }
    });
    fc.assert(property, { numRuns: sized({ gate: 20, night: 200 }) });
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

  describe('by columns', () => {
    const brands: FacetQuery = { filters: [], fields: [{ field: 'brand' }, { field: 'tags' }], limit: 3 };
    const changed = records.map((record, at) => next(record, productAt(at + 1).fields));

    it('have no time limit while they follow changes, and fail no later request', async () => {
      const { feed, products, counting } = await open();
      await feed.turnOn();
      await products.insertAll(records);
      // Each slice is slow, so it has four records. To follow all takes longer than a request may take.
      const clock = new UnevenClock([5]);
      const facets = counting({}, new QueryBudget(clock, 40));
      await facets.facets(brands);
      const remove = (start: number, end: number) =>
        products.removeAll(records.slice(start, end).map(({ id }) => ({ id, expected: 1, at: AT })));
      await remove(50, 75);
      await products.replaceAll(changed.slice(0, 50).map((record) => ({ record, expected: 1 })));
      await remove(75, 100);
      const before = clock.running;
      expect(await facets.facets(brands)).to.deep.equal(expected(changed.slice(0, 50), brands));
      expect(clock.running - before).to.be.above(2 * 40);
    });

    it('take deletions in slices', async () => {
      const { feed, products, counting } = await open();
      await feed.turnOn();
      const many = Array.from({ length: 400 }, (_, at) => product(at + 1, { brand: 'Acme' }));
      await products.insertAll(many);
      // Each slice is slow, so it has four records.
      const clock = new UnevenClock([5]);
      const facets = counting({}, new QueryBudget(clock, Number.MAX_SAFE_INTEGER));
      await facets.facets(brands);
      await products.removeAll(many.map(({ id }) => ({ id, expected: 1, at: AT })));
      const before = clock.running;
      expect(await facets.facets(brands)).to.deep.equal(expected([], brands));
      expect((clock.running - before) / 5).to.be.above(2 * 80);
    });

    it('compare the values of a filter, and choose the first ones, in slices', async () => {
      const { feed, products, counting } = await open();
      await feed.turnOn();
      const groups = Array.from({ length: 5_000 }, (_, at) => product(at + 1, { group: `g${at}` }));
      await products.insertAll(groups);
      const clock = new UnevenClock([1]);
      const facets = counting({}, new QueryBudget(clock, Number.MAX_SAFE_INTEGER));
      const readings = async (filters: Filter[], fields: FacetField[]) => {
        const query = { filters, fields, limit: 2 };
        await facets.facets({ ...query, filters: filters.filter((filter) => filter !== prefix) });
        const before = clock.running;
        expect(await facets.facets(query)).to.deep.equal(expected(groups, query));
        return clock.running - before;
      };
      const prefix: Filter = { field: 'group', operator: 'prefix', value: 'g1' };
      const few = await readings([], [{ field: 'brand' }]);
      expect(await readings([], [{ field: 'group' }])).to.be.least(few + 2 * 4);
      expect(await readings([prefix], [{ field: 'brand' }])).to.be.least(few + 2 * 4);
      const chosen: Filter = { field: 'group', operator: 'in', values: ['g1', 'g7', 'none'] };
      expect(await readings([chosen], [{ field: 'brand' }])).to.equal(few);
      expect(await readings([prefix], [{ field: 'brand' }]), 'is remembered').to.equal(few);
    });

    it('keep a number of columns, of keys that no record has too', async () => {
      const { database, feed, caching } = await open();
      await feed.turnOn();
      const cache = caching();
      const fields = Array.from(
        { length: 260 },
        (_, at): FacetField => ({ field: 'attributes', key: `k${at}` }),
      );
      for (const field of fields) await cache.prepare([field]);
      const columns = await database.inSnapshot((reader) => cache.at(reader, fields, SERVICE_TURN));
      expect([...columns.keys()]).to.deep.equal(fields.slice(4).map(columnName));
      const small = caching({ columnBytes: 100_000 });
      for (const field of fields) await small.prepare([field]);
      const few = await database.inSnapshot((reader) => small.at(reader, fields, SERVICE_TURN));
      expect(few.size).to.be.within(1, 50);
    });

    it('are not made if they do not fit together, until many changes later', async () => {
      const { database, feed, products } = await open();
      await feed.turnOn();
      await products.insertAll(records);
      let snapshots = 0;
      const counted = {
        read: database.read.bind(database),
        inSnapshot: (async (...given: Parameters<typeof database.inSnapshot>) => {
          snapshots++;
          expect(given[1], 'the turn of a client').to.equal(undefined);
          return database.inSnapshot(...given);
        }) as typeof database.inSnapshot,
      };
      // A column of codes takes 124 KiB and more.
      const cache = new ColumnCache(counted, PRODUCTS, ENDLESS, {
        ...FACET_TUNING,
        columnBytes: 300_000,
        columnChanges: 150,
      });
      const made = async (...names: string[]) => {
        const fields = names.map((field) => ({ field }));
        snapshots = 0;
        await cache.prepare(fields);
        const columns = await database.inSnapshot((reader) => cache.at(reader, fields, SERVICE_TURN));
        return [[...columns.keys()], snapshots];
      };
      expect(await made('brand', 'status', 'group')).to.deep.equal([['brand', 'status'], 3]);
      expect(await made('brand', 'status', 'group')).to.deep.equal([['brand', 'status'], 0]);
      expect(await made('group')).to.deep.equal([['group'], 1]);
      expect(await made('group', 'brand', 'status')).to.deep.equal([['group', 'status'], 1]);
      await products.replaceAll(changed.map((record) => ({ record, expected: 1 })));
      expect(await made('brand', 'status', 'group')).to.deep.equal([['status', 'group'], 0]);
      await products.replaceAll(
        changed.map((record) => ({ record: next(record, record.fields), expected: 2 })),
      );
      expect(await made('brand', 'status', 'group')).to.deep.equal([['status', 'group'], 1]);
    });

    it('of lists fit together as they are when they are ready', async () => {
      const { database, feed, products, caching } = await open();
      await feed.turnOn();
      await products.insertAll(records);
      // Ready, a column of tags has 64 KiB a block, and one of brands 32 KiB.
      const cache = caching({ columnBytes: 250_000 });
      const fields = [{ field: 'brand' }, { field: 'tags' }];
      await cache.prepare(fields);
      const columns = await database.inSnapshot((reader) => cache.at(reader, fields, SERVICE_TURN));
      expect([...columns.keys()]).to.deep.equal(['brand']);
    });

    it('are left out if making one fails, and when the store closes', async () => {
      const { database, feed, products, counting, caching } = await open();
      await feed.turnOn();
      await products.insertAll(records);
      const broken = {
        read: database.read.bind(database),
        inSnapshot: () => Promise.reject(unavailable('no')),
      };
      const cache = new ColumnCache(broken, PRODUCTS, ENDLESS, FACET_TUNING);
      await Promise.all([1, 2].map(() => cache.prepare(brands.fields)));
      const made = caching().prepare(brands.fields);
      const facets = counting().facets(brands);
      await database.close();
      await made;
      await expectAppError(facets, 'unavailable');
    });

    it('are of use after facets that ran out of time', async () => {
      const { feed, products, counting } = await open();
      await products.insertAll(records);
      const named: Filter = { field: 'name', operator: 'prefix', value: 'product 1' };
      for (const isOn of [false, true]) {
        if (isOn) await feed.turnOn();
        const clock = new UnevenClock([1]);
        const facets = counting({}, new QueryBudget(clock, 1));
        await expectAppError(facets.facets({ ...brands, filters: [named] }), 'query_too_expensive');
        clock.elapsed = () => clock.running;
        expect(await facets.facets(brands)).to.deep.equal(expected(records, brands));
      }
    });
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
    await fc.assert(property, { numRuns: sized({ gate: 8, night: 40 }) });
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
