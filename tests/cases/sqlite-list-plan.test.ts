import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import { QueryBudget } from '#src/application/maintenance/query-budget.js';
import type { Filter, ListQuery, SortOrder } from '#src/application/ports/list-query.js';
import type { StoredTable } from '#src/application/ports/table-store.js';
import { positionOf } from '#src/application/records/query-semantics.js';
import { AppError } from '#src/domain/errors.js';
import type { Order as OrderFields } from '#src/domain/order.js';
import type { Product } from '#src/domain/product.js';
import type { Versioned } from '#src/domain/record.js';
import type { User } from '#src/domain/user.js';
import { yieldToEventLoop } from '#src/shared/event-loop.js';
import { SERVICE_TURN } from '#src/shared/turn.js';
import { FakeClock, UnevenClock } from '../support/fakes.js';
import { ENDLESS, ORDERS, PRODUCTS, USERS } from '../support/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const RECORDS = 20_000;
const LIMIT = 100;
const AT = Date.UTC(2026, 0, 1);

/** Records the statements, and counts the snapshots that they read. */
class RecordingDatabase extends SqliteDatabase {
  statements: string[] = [];
  snapshots = 0;

  override read<Result>(...[sql, use]: Parameters<SqliteDatabase['read']>): Result {
    this.statements.push(sql);
    return super.read(sql, use) as Result;
  }

  override inSnapshot<Result>(...[work]: Parameters<SqliteDatabase['inSnapshot']>): Promise<Result> {
    this.snapshots++;
    return work(this) as Promise<Result>;
  }

  plans(): string[] {
    return this.statements.map((sql) => {
      const values = new Array(sql.split('?').length - 1).fill(1);
      const steps = super.read(`EXPLAIN QUERY PLAN ${sql}`, (statement) => statement.all(...values));
      return (steps as [id: number, parent: number, unused: number, detail: string][])
        .map(([, , , detail]) => detail)
        .join('; ');
    });
  }
}

describe('a list in SQLite', () => {
  const folder = temporaryFolder();
  let database: RecordingDatabase;

  before(async () => {
    database = new RecordingDatabase(join(folder, 'lists.sqlite'));
    await database.open();
    await fill(PRODUCTS, product);
    await fill(USERS, user);
    await fill(ORDERS, order);
  });
  after(() => database.close());

  const fill = async <Fields extends object>(table: StoredTable, fieldsOf: (id: number) => Fields) => {
    const repository = new SqliteRepository<Fields>(database, table, ENDLESS);
    const records = Array.from({ length: RECORDS }, (_, i): Versioned<Fields> => {
      const [id, at] = [i + 1, AT + Math.floor(i / 10)];
      return { id, version: 1, createdAt: at, updatedAt: at, fields: fieldsOf(id) };
    });
    for (let from = 0; from < RECORDS; from += 1_000)
      await repository.insertAll(records.slice(from, from + 1_000));
  };

  /** Reads the first page, and the one after it. */
  const read = async (table: StoredTable, listed: Pick<ListQuery, 'filters' | 'order'>) => {
    const records = new SqliteRepository(database, table, ENDLESS);
    const query = { limit: LIMIT, ...listed };
    const first = await records.list(query);
    database.statements = [];
    database.snapshots = 0;
    const last = first.records.at(-1);
    const page = last
      ? await records.list({ ...query, from: positionOf(last, query.order, 'after') })
      : await records.list(query);
    return { first, page };
  };

  for (const { name, table, listed, sortsFew, preparing } of indexedLists()) {
    it(`reads a page by one statement, and up to two that prepare it: ${table.name} ${name}`, async () => {
      const { first } = await read(table, listed);
      expect(first.records.length, 'records of the page').to.be.greaterThan(0);
      expect(database.statements).to.have.length(1 + preparing);
    });

    it(`uses an index: ${table.name} ${name}`, async () => {
      await read(table, listed);
      expect(database.statements).to.not.deep.equal([]);
      expect(database.snapshots, 'long readings').to.equal(0);
      const unbounded = database.plans().filter((plan) => !isBounded(plan, sortsFew));
      expect(unbounded).to.deep.equal([]);
    });
  }

  for (const { name, table, filters, count } of indexedCounts()) {
    it(`counts by an index, without a snapshot: ${table.name} ${name}`, async () => {
      database.statements = [];
      database.snapshots = 0;
      expect(await new SqliteRepository(database, table, ENDLESS).count(filters)).to.equal(count);
      expect(database.statements.length, 'statements').to.equal(filters.length + 2);
      expect(database.snapshots, 'long readings').to.equal(0);
      expect(database.plans().filter((plan) => !/SEARCH/.test(plan))).to.deep.equal([]);
    });
  }

  it('counts all records by a covering index', async () => {
    database.statements = [];
    expect(await new SqliteRepository(database, PRODUCTS, ENDLESS).count([])).to.equal(RECORDS);
    expect(
      database.plans().filter((plan) => !/USING COVERING INDEX products_created_at/.test(plan)),
    ).to.deep.equal([]);
  });

  it('counts the records that have a value by the index of the values', async () => {
    for (const [field, index] of [
      ['sku', 'products_sku'],
      ['price.amount', 'products_price_amount'],
    ] as const) {
      database.statements = [];
      const counted = await new SqliteRepository(database, PRODUCTS, ENDLESS).count([
        { field, operator: 'exists', value: true },
      ]);
      expect(counted, field).to.be.greaterThan(1_000);
      expect(database.plans().filter((plan) => !plan.includes(`INDEX ${index} (`))).to.deep.equal([]);
    }
  });

  it('returns an empty page for a position outside the filtered range', async () => {
    const filters: Filter[] = [
      { field: 'name', operator: 'gte', value: 'name 2' },
      { field: 'name', operator: 'lt', value: 'name 3' },
    ];
    for (const [value, side] of [
      ['', 'before'],
      ['zz', 'after'],
    ] as const) {
      database.statements = [];
      const from = { side, inclusive: false, values: [value, 1] };
      const records = new SqliteRepository(database, PRODUCTS, ENDLESS);
      const page = await records.list({ limit: LIMIT, filters, order: by('name'), from });
      expect(page).to.deep.equal({ records: [], hasMore: false });
      expect(database.statements.length).to.be.lessThan(4);
    }
  });

  it('starts at the filtered range for a position before it', async () => {
    const records = new SqliteRepository(database, PRODUCTS, ENDLESS);
    const filters: Filter[] = [{ field: 'name', operator: 'gte', value: 'name 2' }];
    database.statements = [];
    const from = { side: 'after', inclusive: false, values: ['', 1] } as const;
    const page = await records.list({ limit: LIMIT, filters, order: by('name'), from });
    expect(page.records[0]?.fields).to.have.property('name', 'name 2');
    expect(database.statements.length).to.be.lessThan(12);
  });

  it('sorts all records that match if it has passed many that do not', async () => {
    const filters: Filter[] = [{ field: 'tags', operator: 'eq', value: 'late' }];
    const products = new SqliteRepository<Product>(database, PRODUCTS, ENDLESS);
    const late = Array.from({ length: RECORDS }, (_, at) => at + 1).filter((id) => isLate(id));
    const nameOf = (id: number) => product(id).name;
    for (const descending of [false, true]) {
      const order = by('name', descending);
      const sign = descending ? -1 : 1;
      const expected = late.toSorted(
        (a, b) => sign * Number(nameOf(a) > nameOf(b)) || -sign * Number(nameOf(a) < nameOf(b)) || a - b,
      );
      const query = { limit: LIMIT, filters, order };
      database.statements = [];
      const first = await products.list(query);
      const isSorting = database.statements.some((text) => text.includes('FROM products NOT INDEXED'));
      expect(isSorting, 'the last names come late, or first').to.equal(!descending);
      expect(first.records.map(({ id }) => id)).to.deep.equal(expected.slice(0, LIMIT));
      const from = positionOf(first.records.at(-1) as Versioned<Product>, order, 'after');
      const second = await products.list({ ...query, from });
      expect(second.records.map(({ id }) => id)).to.deep.equal(expected.slice(LIMIT, 2 * LIMIT));
      const back = await products.list({ ...query, from: { ...from, side: 'before', inclusive: true } });
      expect(back.records.map(({ id }) => id)).to.deep.equal(expected.slice(0, LIMIT));
    }
  });

  it('recognises plans that read the whole table', async () => {
    database.statements = [
      'SELECT id FROM products WHERE +"name" = ?',
      'SELECT id FROM products ORDER BY fields LIMIT ?',
      'SELECT id FROM products NOT INDEXED WHERE id > ? ORDER BY "name" LIMIT ?',
    ];
    expect(database.plans().filter((plan) => isBounded(plan))).to.deep.equal([]);
  });

  describe('without a suitable index', () => {
    class RunningClock extends FakeClock {
      override elapsed = () => this.running++;
    }
    const nothing: Filter[] = [{ field: 'url', operator: 'exists', value: true }];
    const listing = (timeoutMs: number) =>
      new SqliteRepository(database, PRODUCTS, new QueryBudget(new RunningClock(), timeoutMs));

    it('fails if it exceeds its time budget, and succeeds otherwise', async () => {
      const query = { limit: LIMIT, filters: nothing, order: by('id') };
      const outcome = await listing(10)
        .list(query)
        .catch((error: unknown) => error);
      expect(outcome).to.be.instanceOf(AppError).with.property('code', 'query_too_expensive');
      expect(await listing(100_000).list(query)).to.deep.equal({ records: [], hasMore: false });
    });

    it('reads in a snapshot', async () => {
      database.snapshots = 0;
      await listing(100_000).list({ limit: LIMIT, filters: nothing, order: by('updatedAt') });
      expect(database.snapshots).to.equal(1);
    });

    it('stops counting at its time budget', async () => {
      const outcome = await listing(10)
        .count(nothing)
        .catch((error: unknown) => error);
      expect(outcome).to.be.instanceOf(AppError).with.property('code', 'query_too_expensive');
      expect(await listing(100_000).count(nothing)).to.equal(0);
    });

    it('returns the same hasMore for a full page at any speed', async () => {
      const filters: Filter[] = [{ field: 'name', operator: 'ne', value: 'name 7' }];
      const last = { side: 'after', inclusive: false, values: [RECORDS - 150] } as const;
      const pages = await Promise.all(
        [100, 101, 149, 150, 151].flatMap((limit) =>
          [ENDLESS, new QueryBudget(new RunningClock(), 1_000_000)].map((budget) =>
            new SqliteRepository(database, PRODUCTS, budget).list({
              limit,
              filters,
              order: by('id'),
              from: last,
            }),
          ),
        ),
      );
      expect(pages.map(({ hasMore }) => hasMore)).to.deep.equal([
        ...[true, true, true, true, true, true],
        ...[false, false, false, false],
      ]);
    });

    it('assumes more records after a full page if the check takes too long', async () => {
      const filters: Filter[] = [{ field: 'createdAt', operator: 'lt', value: AT + 150 }];
      const page = await listing(1_000_000).list({ limit: 1_500, filters, order: by('id') });
      expect([page.records.length, page.hasMore]).to.deep.equal([1_500, true]);
      const rest = await listing(1_000_000).list({ limit: 1_501, filters, order: by('id') });
      expect([rest.records.length, rest.hasMore]).to.deep.equal([1_500, false]);
    });

    it('returns a full page even if the time runs out before the check for more', async () => {
      const filters: Filter[] = [
        { field: 'id', operator: 'ne', value: 1 },
        { field: 'id', operator: 'lt', value: 60 },
      ];
      const all = [...filters, { field: 'name', operator: 'ne', value: 'x' } as const];
      const page = await listing(3).list({ limit: 20, filters: all, order: by('id') });
      expect(page.records).to.have.length(20);
    });

    it('continues a list without a time budget', async () => {
      const query = {
        limit: LIMIT,
        filters: nothing,
        order: by('id'),
        turn: SERVICE_TURN.unlimited(),
      } as const;
      expect(await listing(10).list(query)).to.deep.equal({ records: [], hasMore: false });
    });

    for (const [speed, msPerReading, slices] of [
      ['quickly', 0, RECORDS / 2_048],
      ['slowly', 5, RECORDS / 16],
    ] as const) {
      it(`lets others read between its slices, which are small, if it advances ${speed}`, async () => {
        const turns: number[] = [];
        let isOver = false;
        database.statements = [];
        const others = (async () => {
          while (!isOver) {
            turns.push(database.statements.splice(0).length);
            await yieldToEventLoop();
          }
        })();
        const budget = new QueryBudget(new UnevenClock([msPerReading]), 10_000_000);
        const products = new SqliteRepository(database, PRODUCTS, budget);
        await products.list({ limit: LIMIT, filters: nothing, order: by('name') });
        isOver = true;
        await others;
        expect(turns.filter((statements) => statements > 0)).to.have.length.of.at.least(slices);
        // The end of the slice is looked for in two ranges, and its rows in three.
        expect(Math.max(...turns)).to.be.at.most(5);
      });
    }

    it('does not limit the time of a list that uses an index', async () => {
      const page = await listing(1).list({ limit: 1_000, filters: [], order: by('name') });
      expect(page.records).to.have.length(1_000);
    });
  });
});

/** Whether the plan searches an index or the ids, and sorts only ties of the first key, or few rows altogether. */
function isBounded(plan: string, sortsFew = false): boolean {
  const isSeeking = /SEARCH \w+ USING (COVERING )?INDEX|SEARCH \w+ USING (INTEGER )?PRIMARY KEY/.test(plan);
  return (
    isSeeking &&
    !/SCAN (products|users|orders)/.test(plan) &&
    (sortsFew || !/TEMP B-TREE FOR ORDER BY/.test(plan))
  );
}

function by(field: string, descending = false): SortOrder {
  const id = { field: 'id', descending: false };
  return field === 'id' ? [{ field, descending }] : [{ field, descending }, id];
}

function indexedCounts(): { name: string; table: StoredTable; filters: Filter[]; count: number }[] {
  const [sku, skus] = [{ field: 'sku', operator: 'eq', value: 'SKU-5' } as const, ['SKU-1', 'SKU-2', 'none']];
  const euro = { field: 'price.currency', operator: 'eq', value: 'EUR' } as const;
  return [
    { name: 'of a sku', table: PRODUCTS, filters: [sku], count: 1 },
    {
      name: 'of a tag',
      table: PRODUCTS,
      filters: [{ field: 'tags', operator: 'eq', value: 'shelf/7' }],
      count: 400,
    },
    { name: 'of a currency and a sku', table: PRODUCTS, filters: [euro, sku], count: 1 },
    {
      name: 'of some skus',
      table: PRODUCTS,
      filters: [{ field: 'sku', operator: 'in', values: skus }],
      count: 2,
    },
    {
      name: 'of some ids',
      table: PRODUCTS,
      filters: [{ field: 'id', operator: 'in', values: [1, 2, 0] }],
      count: 2,
    },
    {
      name: 'of an e-mail address',
      table: USERS,
      filters: [{ field: 'email', operator: 'eq', value: 'u7@EXAMPLE.org' }],
      count: 1,
    },
    {
      name: 'of a user',
      table: ORDERS,
      filters: [{ field: 'userId', operator: 'eq', value: 7 }],
      count: 400,
    },
  ];
}

function indexedLists() {
  const [p, u, o]: [StoredTable, StoredTable, StoredTable] = [PRODUCTS, USERS, ORDERS];
  const sortedBy = (table: StoredTable, ...fields: string[]) =>
    fields.flatMap((field) =>
      [false, true].map((descending) => ({
        name: `by ${descending ? '-' : ''}${field}`,
        table,
        listed: { filters: [], order: by(field, descending) },
        sortsFew: false,
        // What descends in ties of ascending ids needs the value of the last row.
        preparing: Number(descending && field !== 'id'),
      })),
    );
  const filtered = (table: StoredTable, name: string, filters: Filter[], order = by('id')) => [
    { name, table, listed: { filters, order }, sortsFew: false, preparing: Number(order[0]?.descending) },
  ];
  const few = (...of: Parameters<typeof filtered>) =>
    filtered(...of).map((one) => ({ ...one, sortsFew: true, preparing: 2 }));
  /** Reads the rows of some values together. */
  const united = (preparing: number, ...of: Parameters<typeof filtered>) =>
    filtered(...of).map((one) => ({ ...one, sortsFew: true, preparing }));
  const tagged: Filter[] = [{ field: 'tags', operator: 'eq', value: 'shelf/7' }];
  const at = AT + 500;
  return [
    ...sortedBy(p, 'id', 'name', 'createdAt', 'updatedAt'),
    ...sortedBy(u, 'id', 'name', 'email', 'createdAt', 'updatedAt'),
    ...sortedBy(o, 'id', 'userId', 'createdAt', 'updatedAt'),
    ...filtered(p, 'of an id', [{ field: 'id', operator: 'eq', value: 7 }]),
    ...few(p, 'of some ids', [{ field: 'id', operator: 'in', values: [7, 9, 19_000] }]),
    ...filtered(p, 'from an id on', [{ field: 'id', operator: 'gte', value: 9_000 }]),
    ...filtered(p, 'of a sku', [{ field: 'sku', operator: 'eq', value: 'SKU-77' }]),
    ...united(0, p, 'of some skus', [{ field: 'sku', operator: 'in', values: ['SKU-7', 'SKU-9000'] }]),
    ...filtered(p, 'of a tag', tagged),
    ...few(p, 'of a tag, by name', tagged, by('name')),
    ...united(0, p, 'of one of some tags', [{ field: 'tags', operator: 'in', values: ['even', 'shelf/7'] }]),
    ...united(1, p, 'of a path of tags', [{ field: 'tags', operator: 'prefix', value: 'shelf/' }]),
    ...filtered(p, 'of a currency', [{ field: 'price.currency', operator: 'eq', value: 'EUR' }]),
    ...filtered(p, 'of an amount', [{ field: 'price.amount', operator: 'eq', value: 77 }]),
    ...filtered(p, 'of a name', [{ field: 'name', operator: 'eq', value: 'name 77' }]),
    ...filtered(p, 'of a time', [{ field: 'createdAt', operator: 'eq', value: at }]),
    ...filtered(
      p,
      'by name in a prefix',
      [{ field: 'name', operator: 'prefix', value: 'name 1' }],
      by('name'),
    ),
    ...filtered(
      p,
      'by -createdAt before',
      [{ field: 'createdAt', operator: 'lt', value: at }],
      by('createdAt', true),
    ),
    ...filtered(u, 'of an e-mail address', [{ field: 'email', operator: 'eq', value: 'u77@EXAMPLE.org' }]),
    ...filtered(o, 'of a user', [{ field: 'userId', operator: 'eq', value: 7 }]),
    ...few(o, 'of a user, newest last', [{ field: 'userId', operator: 'eq', value: 7 }], by('createdAt')),
  ];
}

/** Whether the name of a product is one of the last in their order, but for a few. */
function isLate(id: number): boolean {
  return id % 5_000 >= 4_700;
}

function product(id: number): Product {
  const price = { amount: id % 1_000, currency: id % 2 ? 'EUR' : 'USD' };
  const tags = [`shelf/${id % 50}`, id % 2 ? 'odd' : 'even', ...(isLate(id) ? ['late'] : [])];
  return { name: `name ${id % 5_000}`, sku: `SKU-${id}`, price, tags };
}

function user(id: number): User {
  return { name: `name ${id % 5_000}`, email: `U${id}@example.org` };
}

function order(id: number): OrderFields {
  return { userId: (id % 50) + 1, items: [{ productId: 1, quantity: 1 }] };
}
