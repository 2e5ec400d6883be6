import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { COLUMN_TUNING, ColumnIndex, type IndexView } from '#src/adapters/outbound/sqlite/lists/column-index.js';
import { ColumnQuery } from '#src/adapters/outbound/sqlite/lists/column-query.js';
import { type Column, ColumnBuilder } from '#src/adapters/outbound/sqlite/lists/dictionary-column.js';
import { SqliteArchive } from '#src/adapters/outbound/sqlite/records/archive.js';
import { SqliteFeedState } from '#src/adapters/outbound/sqlite/records/change-feed.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import type { FacetField, Filter } from '#src/application/ports/list-query.js';
import type { Logger } from '#src/application/ports/logger.js';
import { QueryBudget } from '#src/application/records/lists.js';
import { unavailable } from '#src/domain/errors.js';
import type { Product } from '#src/domain/product.js';
import type { Versioned } from '#src/domain/record.js';
import { BACKGROUND, Task } from '#src/shared/task-scheduler.js';
import { apply, expectSame, transcript } from '../../../../../contract/query-property.js';
import { LETTERS, PRODUCT, scenarios } from '../../../../../contract/query-scenarios.js';
import { AT, by, next, product } from '../../../../../contract/repository/records.js';
import { expectAppError } from '../../../../../support/expect-refusal.js';
import { FakeClock, RecordingLogger, UnevenClock } from '../../../../../support/fakes.js';
import { sized } from '../../../../../support/run-settings.js';
import { ENDLESS, PRODUCTS } from '../../../../../support/tables.js';
import { temporaryFolder } from '../../../../../support/temporary-folder.js';
import { until } from '../../../../../support/until.js';

/** Columns are read in many pieces, and made again after few changes. */
const BUSY = { ...COLUMN_TUNING, rows: 3, leastChanged: 2, changedPart: 0 };

/** Work on columns waits for a test at each of its pauses. */
class PausingBudget extends QueryBudget {
  pause: () => Promise<unknown> = async () => {};

  override startUnlimited(task = BACKGROUND) {
    const time = super.startUnlimited(task);
    time.checkpoint = async () => {
      await this.pause();
      return 0;
    };
    return time;
  }
}

const [NAME, TAGS, BRAND, CURRENCY] = ['name', 'tags', 'brand', 'price.currency'].map((field) => ({ field })) as [
  FacetField,
  FacetField,
  FacetField,
  FacetField,
];

describe('the index of SQLite in memory', () => {
  const folder = temporaryFolder();
  const opened: SqliteDatabase[] = [];
  const open = async (file = join(mkdtempSync(join(folder, 'store-')), 'catalogue.sqlite')) => {
    const database = new SqliteDatabase(file);
    await database.open();
    opened.push(database);
    await new SqliteFeedState(database, [PRODUCTS]).turnOn();
    return database;
  };
  const repositoryOf = (database: SqliteDatabase, tuning = BUSY) =>
    new SqliteRepository<Product>(database, PRODUCTS, ENDLESS, undefined, tuning);
  const edits = (records: readonly Versioned<Product>[], fields: Partial<Product> = {}) =>
    records.map((record) => ({ record: next(record, fields), expected: record.version }));
  /** An index of these records with the column of one field. */
  const indexOf = async (
    records: readonly Versioned<Product>[],
    column: FacetField,
    { budget = ENDLESS, logger, ...tuning }: Partial<typeof BUSY> & { budget?: QueryBudget; logger?: Logger } = {},
  ) => {
    const database = await open();
    const repository = repositoryOf(database);
    await repository.insertAll(records);
    const index = new ColumnIndex(database, PRODUCTS, budget, logger, { ...BUSY, ...tuning });
    return {
      ...{ database, repository, index },
      prepare: (task = BACKGROUND) => index.prepare([column], task),
      view: () => database.inSnapshot(async (reader) => index.view(reader, [column])),
    };
  };
  const numbered = (count: number, fields: Partial<Product> = {}) =>
    Array.from({ length: count }, (_, at) => product(at + 1, fields));

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.close()));
  });

  for (const [name, tuning, numRuns] of [
    ['the index in memory', BUSY, sized({ gate: 4, night: 60 })],
    ['statements, as it has no room', { ...BUSY, bytes: 0 }, sized({ gate: 10, night: 60 })],
  ] as const)
    it(`returns what the memory store does, whatever another process writes between two queries, by ${name}`, async () => {
      const generator = PRODUCT(PRODUCTS.fields);
      const property = fc.asyncProperty(scenarios(generator, LETTERS), async ({ writes, queries }) => {
        const database = await open();
        const reader = repositoryOf(database, tuning);
        const writer = repositoryOf(await open(database.location));
        const reference = new MemoryRepository<Product>(PRODUCTS, ENDLESS);
        for (let at = 0; at < writes.length; at += 20) {
          for (const write of writes.slice(at, at + 20))
            for (const repository of [writer, reference]) await apply(repository, write);
          const [lines, expected] = await Promise.all(
            [reader, reference].map((repository) => transcript(repository, PRODUCTS.fields, { writes: [], queries })),
          );
          expectSame('sqlite', lines ?? [], expected ?? []);
        }
        await Promise.all(opened.splice(0).map((one) => one.close()));
      });
      await fc.assert(property, { numRuns });
    }).timeout(sized({ gate: 300_000, night: 1_800_000 }));

  it('shows a query the moment at which it began, while others change records and columns are made again', async () => {
    const records = numbered(40, { tags: ['a'], brand: 'x' });
    const { repository, prepare, view } = await indexOf(records, TAGS);
    expect(await prepare()).to.equal(true);
    // The marks of changed records are those of all queries from now on.
    await repository.replaceAll(edits(records.slice(39), { tags: ['a'] }));
    const before = await view();
    for (const edit of edits(records.slice(0, 10), { tags: ['b'] })) await repository.replaceAll([edit]);
    const after = await view();
    expect([...(before?.changedIds() ?? [])]).to.deep.equal([40]);
    expect(records.filter(({ id }) => before?.isChanged(id)).map(({ id }) => id)).to.deep.equal([40]);
    expect([...(after?.changedIds() ?? [])]).to.deep.equal([40, ...records.slice(0, 10).map(({ id }) => id)]);
    await until('the columns are made again', async () => {
      await prepare();
      const again = await view();
      return again?.hasChanges === false && again.column(TAGS).values?.length === 2;
    });
    expect(before?.column(TAGS).values).to.deep.equal(['a']);
    expect([...(after?.changed() ?? [])].flat().map(({ fields }) => (fields as Product).tags)).to.deep.equal([
      ['a'],
      ...Array.from({ length: 10 }, () => ['b']),
    ]);
  });

  it('keeps what changes while columns are made again', async () => {
    const budget = new PausingBudget(new FakeClock(), 2_000);
    const records = numbered(40);
    const { repository, prepare, view } = await indexOf(records, NAME, { budget });
    const changed = async () => [...((await view())?.changedIds() ?? [])];
    const change = async (from: number, end: number) => {
      for (const edit of edits(records.slice(from, end))) await repository.replaceAll([edit]);
    };
    await prepare();
    let openGate = () => {};
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    budget.pause = () => gate;
    await change(0, 10);
    expect(await changed()).to.have.length(10);
    await change(39, 40);
    expect(await changed()).to.have.length(11);
    openGate();
    await until('the columns are made again', async () => (await changed()).length < 11);
    expect(await changed()).to.deep.equal([40]);
  });

  describe('beside another process', () => {
    const filters: Filter[] = [
      { field: 'tags', operator: 'eq', value: 'a' },
      { field: 'brand', operator: 'eq', value: 'x' },
    ];
    const facets = { fields: [{ field: 'tags' }, { field: 'brand' }, { field: 'tags' }], limit: 5 };
    const queries = ['price.amount,id', 'price.amount,-id', '-price.amount,id', '-price.amount,-id', 'id'].map(
      (sort) => ({ filters, order: by(sort), limit: 3, facets: sort === 'id' ? facets : undefined }),
    );
    const all = [[], filters.slice(1)].map((some) => ({ filters: some, order: by('id'), limit: 100, facets }));
    const records = Array.from({ length: 300 }, (_, at) =>
      product(at + 1, {
        tags: [at < 12 ? 'a' : 'c'],
        brand: 'x',
        price: { amount: at % 2, currency: 'EUR' },
        group: `g${at % 5}`,
      }),
    );
    let writer: SqliteRepository<Product>;
    let feed: SqliteFeedState;
    let other: SqliteDatabase;
    let reader: SqliteRepository<Product>;
    let reference: MemoryRepository<Product>;

    beforeEach(async () => {
      const database = await open();
      other = await open(database.location);
      [reader, writer, feed] = [repositoryOf(database), repositoryOf(other), new SqliteFeedState(other, [PRODUCTS])];
      reference = new MemoryRepository<Product>(PRODUCTS, ENDLESS);
      for (const repository of [writer, reference]) await repository.insertAll(records);
      await expectSameLists();
    });

    const replace = async (some: readonly Versioned<Product>[], fields: Partial<Product>) => {
      for (const repository of [writer, reference]) await repository.replaceAll(edits(some, fields));
    };
    const remove = async (some: readonly Versioned<Product>[]) => {
      for (const repository of [writer, reference])
        await repository.removeAll(some.map(({ id }) => ({ id, expected: 1, at: AT })));
    };
    const expectSameLists = async () => {
      const lines = (of: typeof reader | typeof reference) =>
        transcript(of, PRODUCTS.fields, { writes: [], queries: [...queries, ...all] });
      expect(await lines(reader)).to.deep.equal(await lines(reference));
    };

    for (const [name, write] of [
      ['changed a record', () => replace(records.slice(5, 6), { tags: ['b'] })],
      [
        'changed two records of a group',
        () =>
          replace(
            records.filter((_, at) => at === 5 || at === 10),
            { tags: ['b', 'c'], brand: 'x', group: 'g0' },
          ),
      ],
      ['deleted a record', () => remove(records.slice(5, 6))],
      ['changed more records than a query follows by itself', () => replace(records.slice(5), { tags: ['b'] })],
      [
        'deleted a record, whose tombstone expired',
        async () => {
          await remove(records.slice(5, 6));
          await new SqliteArchive(other, PRODUCTS).purgeBefore(AT + 1, 100);
        },
      ],
      [
        'changed a record and began the feed anew',
        async () => {
          await replace(records.slice(5, 6), { tags: ['b'] });
          await feed.reset();
        },
      ],
      [
        'changed a record while no feed was written',
        async () => {
          await feed.turnOff();
          await expectSameLists();
          await replace(records.slice(5, 6), { tags: ['b'] });
          await expectSameLists();
          await feed.turnOn();
        },
      ],
    ] as const)
      it(`finds what the memory store does after it ${name}`, async () => {
        await write();
        await expectSameLists();
      });

    for (const sort of ['price.amount,id', 'price.amount,-id', '-price.amount,id', '-price.amount,-id'])
      it(`goes on among ties at any position: ${sort}`, async () => {
        const all: Filter[] = [
          { field: 'brand', operator: 'eq', value: 'x' },
          { field: 'price.currency', operator: 'eq', value: 'EUR' },
        ];
        const positions = [0, 1, 2].flatMap((amount) =>
          (['after', 'before'] as const).flatMap((side) =>
            [true, false].map((inclusive) => ({ side, inclusive, values: [amount, 151] })),
          ),
        );
        for (const from of positions) {
          const query = { filters: all, order: by(sort), limit: 5, from };
          const [found, expected] = await Promise.all([reader, reference].map((one) => one.list(query)));
          expect(found?.records.map(({ id }) => id)).to.deep.equal(expected?.records.map(({ id }) => id));
        }
      });
  });

  describe('for queries of many ids', () => {
    const ids = Array.from({ length: 200_000 }, (_, at) => at + 1);
    const filters: Filter[] = [
      { field: 'brand', operator: 'ne', value: 'y' },
      { field: 'status', operator: 'exists', value: false },
    ];
    const columns = new Map<string, Column>();
    const view = {
      column: ({ field }: { readonly field: string }) => columns.get(field),
      hasChanges: false,
      changed: () => [],
      changedIds: () => [],
    } as unknown as IndexView;

    before(async () => {
      for (const [field, kind, value, some] of [
        ['id', 'ids', true, ids],
        ['brand', 'dictionary', 'x', ids],
        ['status', 'dictionary', 'draft', ids.slice(0, -1)],
        ['stock', 'values', 1, ids],
      ] as const) {
        const builder = new ColumnBuilder(kind, COLUMN_TUNING.bytes);
        for (const id of some) builder.add(value, id);
        columns.set(field, await builder.finish(async () => {}));
      }
    });

    for (const [name, run] of [
      ['a count', (budget: QueryBudget, task: Task) => queryIn(budget, task, 'id').count()],
      ['a page by id', (budget: QueryBudget, task: Task) => page(budget, task, 'id')],
      ['a page by a number', (budget: QueryBudget, task: Task) => page(budget, task, 'stock,id')],
      [
        'facets',
        (budget: QueryBudget, task: Task) =>
          queryIn(budget, task, 'id').facets({ filters, fields: [{ field: 'stock' }], limit: 1 }),
      ],
    ] as const)
      it(`lets other clients take turns, and ends when the time is used up: ${name}`, async () => {
        let turns = 0;
        let isOver = false;
        const others = (async () => {
          for (const task = new Task('other'); !isOver; turns++) await task.yield();
        })();
        const found = await run(ENDLESS, new Task('one'));
        isOver = true;
        await others;
        expect(JSON.stringify(found)).to.match(
          /^(1|\{"ids":\[200000\],.*|\[\{"values":\[\{"value":1,"count":1\}\],.*)$/,
        );
        // The query of 200,000 ids has a pause after each 16,384.
        expect(turns).to.be.above(8);
        const late = run(new QueryBudget(new UnevenClock([1]), 5), new Task('one'));
        await expectAppError(late, 'query_too_expensive');
        await run(new QueryBudget(new UnevenClock([1]), 5), new Task('one', true));
      });

    const queryIn = (budget: QueryBudget, task: Task, sort: string) =>
      new ColumnQuery(PRODUCTS, filters, by(sort), view, budget.start(task), undefined);
    const page = (budget: QueryBudget, task: Task, sort: string) =>
      queryIn(budget, task, sort).page({ limit: 10 }, () => 0);
  });

  it('is waited for within the time of the query, and may fail later', async () => {
    const budget = new PausingBudget(new FakeClock(), 1);
    const { index, prepare } = await indexOf(numbered(1, { tags: ['a'] }), TAGS, { budget });
    let fail = (_: unknown) => {};
    let openGate = (_: unknown) => {};
    const gate = new Promise((resolve, reject) => {
      [openGate, fail] = [resolve, reject];
    });
    budget.pause = () => gate;
    const guard = setTimeout(openGate, 10_000, undefined);
    await expectAppError(prepare(), 'query_too_expensive');
    clearTimeout(guard);
    const patient = prepare(BACKGROUND.unlimited());
    fail(unavailable('no'));
    await expectAppError(patient, 'unavailable');
    expect(index.has([TAGS])).to.equal(false);
    budget.pause = async () => {};
    expect(await prepare(BACKGROUND.unlimited())).to.equal(true);
  });

  it('goes on as it is if its columns cannot be made again, and says so', async () => {
    const [budget, logger] = [new PausingBudget(new FakeClock(), 2_000), new RecordingLogger()];
    const records = numbered(9);
    const { repository, prepare, view } = await indexOf(records, NAME, { budget, logger });
    await prepare();
    budget.pause = () => Promise.reject(new Error('no'));
    for (const edit of edits(records)) await repository.replaceAll([edit]);
    expect([...((await view())?.changedIds() ?? [])]).to.have.length(9);
    await until('the error is logged', () => logger.events.length > 0);
    expect(logger.events).to.have.length(1);
    budget.pause = async () => {};
    expect([...((await view())?.changedIds() ?? [])]).to.have.length(9);
    await until('the columns are made again', async () => (await view())?.hasChanges === false);
  });

  const held = async (bytes: number) => {
    const { index } = await indexOf(numbered(1, { brand: 'x', tags: ['a'], attributes: { color: 'red' } }), TAGS, {
      bytes,
    });
    return { index, prepare: (...fields: FacetField[]) => index.prepare(fields, BACKGROUND) };
  };

  it('keeps the columns of a query, and leaves out those that others used before', async () => {
    const { index, prepare } = await held(150_000);
    await prepare(BRAND);
    await prepare(TAGS);
    expect(await prepare(BRAND, CURRENCY)).to.equal(true);
    expect([index.has([BRAND, CURRENCY]), index.has([TAGS])]).to.deep.equal([true, false]);
  });

  it('makes no column again for a query whose columns are too large together', async () => {
    const { index, prepare } = await held(150_000);
    expect(await prepare(BRAND, TAGS, CURRENCY)).to.equal(false);
    const kept = index.has([TAGS, CURRENCY]);
    expect(await prepare(BRAND, TAGS, CURRENCY)).to.equal(false);
    expect([kept, index.has([TAGS, CURRENCY])]).to.deep.equal([true, true]);
  });

  it('is made anew if the records that changed take too much memory', async () => {
    const records = numbered(3);
    const { repository, index, prepare, view } = await indexOf(records, TAGS, { bytes: 100_000 });
    await prepare();
    await repository.replaceAll(edits(records, { description: 'x'.repeat(15_000), tags: ['new'] }));
    expect([await view(), index.has([TAGS])]).to.deep.equal([undefined, false]);
    expect(await prepare()).to.equal(true);
    const made = await view();
    expect([made?.hasChanges, made?.column(TAGS).values]).to.deep.equal([false, ['new']]);
  });

  it('logs no error if the store is closed while columns are made again', async () => {
    const [records, logger] = [numbered(3), new RecordingLogger()];
    const { database, repository, index, prepare, view } = await indexOf(records, NAME, { logger });
    await prepare();
    await repository.replaceAll(edits(records));
    await view();
    await database.close();
    await Reflect.get(index, 'refreshing');
    expect(logger.events).to.deep.equal([]);
  });

  it('lets other requests run between large records that changed', async () => {
    const records = numbered(3);
    const { repository, prepare, view } = await indexOf(records, TAGS, COLUMN_TUNING);
    await prepare();
    const large = edits(records, { description: 'x'.repeat(600_000) });
    await repository.replaceAll(large);
    expect(await view(), 'before the size of the records is known').to.not.equal(undefined);
    await repository.replaceAll(
      edits(
        large.map(({ record }) => record),
        { description: 'y'.repeat(600_000) },
      ),
    );
    expect(await view()).to.equal(undefined);
    await prepare();
    const groups = [...((await view())?.changed() ?? [])];
    expect(groups.map((some) => some.map(({ id }) => id))).to.deep.equal([[1], [2], [3]]);
  });

  it('lets other requests run while it merges many values with the records that changed', async () => {
    const records = numbered(40).map((one, at) => ({ ...one, updatedAt: AT + at }));
    const clock = new FakeClock();
    const budget = new QueryBudget(clock, 2_000);
    const { repository, prepare, view } = await indexOf(records, { field: 'updatedAt' }, { budget });
    await prepare();
    let readings = 0;
    clock.elapsed = () => readings++ * 0;
    await repository.replaceAll(edits(records.slice(0, 3)));
    await until('the columns are made again', async () => (await view())?.hasChanges === false);
    expect(readings).to.be.above(40);
  });

  it('has a record once in a column of many numbers that read it twice, because it changed meanwhile', async () => {
    const builder = new ColumnBuilder('values', COLUMN_TUNING.bytes);
    for (let id = 1; id <= 70_000; id++) builder.add(id, id);
    for (const id of [1, 70_001]) builder.add(70_001, id);
    const { ids, starts, keys, lists } = await builder.finish(async () => {});
    expect(lists).to.equal(undefined);
    expect([ids.length, keys[1], keys[70_000], keys[70_001]]).to.deep.equal([70_001, 1, 70_000, 70_001]);
    expect([...starts.slice(0, 2), ...starts.slice(-2)]).to.deep.equal([0, 1, 70_000, 70_001]);
    expect(ids.at(-1)).to.equal(70_001);
  });

  it('has the ids of a value in their order, in whatever order they came', async () => {
    for (const [last, expected] of [
      [2, [1, 3, 2]],
      [1, [1, 3, 1]],
    ] as const) {
      const builder = new ColumnBuilder('dictionary', COLUMN_TUNING.bytes);
      for (const id of [3, 1]) builder.add('x', id);
      builder.add('y', last);
      expect([...(await builder.finish(async () => {})).ids]).to.deep.equal(expected);
    }
  });

  it('has no column of a facet with too many values', async () => {
    const builder = new ColumnBuilder('dictionary', COLUMN_TUNING.bytes);
    const held = Array.from({ length: 65_536 }, (_, at) => {
      builder.add(`v${at}`, at + 1);
      return builder.fits;
    });
    expect(held.indexOf(false)).to.equal(65_535);
  });

  it('pages and counts among many changed records as the memory store does', async () => {
    const repository = repositoryOf(await open(), COLUMN_TUNING);
    const reference = new MemoryRepository<Product>(PRODUCTS, ENDLESS);
    const records = Array.from({ length: 400 }, (_, at) =>
      product(at + 1, {
        name: `n${String(10 + (at % 20))}`,
        sku: `S-${at + 1}`,
        tags: ['all'],
        brand: at % 40 === 0 ? 'rare' : 'usual',
        price: { amount: at % 30, currency: 'EUR' },
      }),
    );
    const tagged = { field: 'tags', operator: 'eq', value: 'all' } as const;
    const rare = { field: 'brand', operator: 'eq', value: 'rare' } as const;
    const facets = { fields: [{ field: 'brand' }, { field: 'tags' }], limit: 10 };
    const some = [300, 7, 150, 41, 81, 9];
    const ids: Filter = { field: 'id', operator: 'in', values: some };
    const skus: Filter = { field: 'sku', operator: 'in', values: some.map((id) => `S-${id}`) };
    const queries = [
      ...['name,id', '-name,id', 'name,-id', '-price.amount,id', 'id'].flatMap((sort) => [
        { limit: 90, filters: [tagged], order: by(sort), facets },
        { limit: 2, filters: [rare], order: by(sort), facets },
      ]),
      { limit: 2, filters: [ids], order: by('name,id'), facets },
      { limit: 2, filters: [skus, tagged], order: by('-price.amount,id'), facets },
    ];
    const expectSameResults = async () => {
      const [lines, expected] = await Promise.all(
        [repository, reference].map((one) => transcript(one, PRODUCTS.fields, { writes: [], queries })),
      );
      expectSame('sqlite', lines ?? [], expected ?? []);
      for (const side of ['after', 'before'] as const)
        for (const id of [41, 81, 82]) {
          const from = { side, inclusive: true, values: ['n10', id] };
          const query = { limit: 3, filters: [rare], order: by('name,id'), from };
          expect(await repository.list(query)).to.deep.equal(await reference.list(query));
        }
      for (const sort of ['name,id', '-price.amount,id', 'id'])
        for (const bytes of [1, 500, 5_000]) {
          const query = { limit: 60, bytes, filters: [tagged], order: by(sort) };
          expect(await repository.list(query), `${bytes} bytes by ${sort}`).to.deep.equal(await reference.list(query));
        }
    };
    for (const one of [repository, reference]) await one.insertAll(records);
    await expectSameResults();
    // More of them follow each other in the order of names than are read at once.
    const changes = records.slice(100, 240).map((record, at) => ({
      record: next(record, {
        ...record.fields,
        name: at % 2 ? 'n155' : 'n15',
        brand: at % 9 ? 'usual' : 'rare',
      }),
      expected: 1,
    }));
    const removals = records.slice(20, 30).map(({ id }) => ({ id, expected: 1, at: AT }));
    for (const one of [repository, reference]) {
      await one.replaceAll(changes);
      await one.removeAll(removals);
      await one.insertAll([product(401, { name: 'n1', tags: ['all', 'new'], brand: 'fresh' })]);
    }
    await expectSameResults();
  });

  it('leaves ids that no column holds to statements', async () => {
    const repository = repositoryOf(await open(), COLUMN_TUNING);
    const name = 'abcdefghijklmnopqrst';
    const far = product(2 ** 33 + 1, { name });
    await repository.insertAll([product(1), far]);
    const filters: Filter[] = [{ field: 'q', operator: 'search', words: [name] }];
    const { records } = await repository.list({ limit: 10, filters, order: by('id') });
    expect(records.map(({ id }) => id)).to.deep.equal([far.id]);
  });
});
