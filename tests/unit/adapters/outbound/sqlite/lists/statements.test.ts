import { join } from 'node:path';
import { expect } from 'chai';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import type { ThreadReader } from '#src/adapters/outbound/sqlite/connection/readers.js';
import { StatementLists } from '#src/adapters/outbound/sqlite/lists/statements.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import { RecordReader } from '#src/adapters/outbound/sqlite/sql/records.js';
import type { Sql } from '#src/adapters/outbound/sqlite/sql/schema.js';
import type { FacetCount, FacetField, Filter, Position } from '#src/application/ports/list-query.js';
import type { Product } from '#src/domain/product.js';
import { by, product } from '../../../../../contract/repository/records.js';
import { searchFor } from '../../../../../support/reference-search.js';
import { ENDLESS, PRODUCTS } from '../../../../../support/tables.js';
import { temporaryFolder } from '../../../../../support/temporary-folder.js';

/** The most rows of a filter that are sorted here. */
const FEW = 20;
const RECORDS = 100;

/** Numbers that need all their digits, and values that are written alike. */
const MIXED = ['1', 1, 0.1 + 0.2, 0.3, true, false, 'true'];

/** Runs the statements of another thread in this one, and keeps their plans. */
class PlanningDatabase extends SqliteDatabase {
  plans: string[] = [];

  override onThread<Result>(work: (reader: ThreadReader) => Promise<Result>): Promise<Result> {
    return work({ row: async <Row extends unknown[]>(statement: Sql) => this.planned<Row>(statement) });
  }

  private planned<Row extends unknown[]>({ text, values }: Sql): Row | undefined {
    const steps = this.read(`EXPLAIN QUERY PLAN ${text}`, (statement) => statement.all([...values]));
    const details = (steps as [id: number, parent: number, unused: number, detail: string][]).map(
      ([, , , detail]) => detail,
    );
    this.plans.push(details.map(briefly).filter(Boolean).join(', '));
    return this.row<Row>({ text, values });
  }
}

/** A step of a plan: what is read by which index. What is read of the result is left out. */
function briefly(step: string): string {
  if (/^(SCAN|SEARCH) (found|record|own|\(subquery)|^SCAN CONSTANT/.test(step)) return '';
  if (!/^(SCAN|SEARCH|USE) /.test(step)) return '';
  return step
    .replace(/ USING (COVERING )?(INDEX )?/, ' by ')
    .replace('INTEGER PRIMARY KEY (rowid', 'id (id')
    .replace('TEMP B-TREE', 'sorter');
}

describe('the statements of lists in SQLite', () => {
  const database = new PlanningDatabase(join(temporaryFolder(), 'statements.sqlite'));
  const lists = new StatementLists<Product>(database, PRODUCTS, ENDLESS, new RecordReader(PRODUCTS), FEW);
  const memory = new MemoryRepository<Product>(PRODUCTS, ENDLESS);

  before(async () => {
    await database.open();
    const all = Array.from({ length: RECORDS }, (_, at) =>
      product(at + 1, {
        name: `lamp ${at % 7}`,
        sku: `S${at}`,
        price: { amount: at, currency: 'EUR' },
        attributes: {
          colour: 'red',
          size: at % 50,
          mixed: MIXED[at % 7] ?? '',
          ...(at < 10 && { rare: true }),
        },
        brand: at % 10 === 0 ? 'Bolt' : 'Acme',
        tags: ['all', `mod/${at % 3}`],
      }),
    );
    await new SqliteRepository<Product>(database, PRODUCTS, ENDLESS).insertAll(all);
    await memory.insertAll(all);
  });
  after(() => database.close());

  const attribute = { field: 'attributes', operator: 'attribute' } as const;
  const named: Filter = { field: 'name', operator: 'gte', value: 'lamp 2' };
  const cheap: Filter = { field: 'price.amount', operator: 'lt', value: 10 };
  const dear: Filter = { field: 'price.amount', operator: 'gte', value: 50 };
  const brand: Filter = { field: 'brand', operator: 'eq', value: 'Acme' };
  const tag: Filter = { field: 'tags', operator: 'eq', value: 'all' };
  const red: Filter = { ...attribute, key: 'colour', value: 'red' };
  const rare: Filter = { ...attribute, key: 'rare', exists: true };
  const small: Filter = { ...attribute, key: 'size', comparison: 'lt', number: 45 };
  const live: Filter = { field: 'status', operator: 'exists', value: false };
  const other: Filter = { field: 'name', operator: 'ne', value: 'lamp 2' };
  const behind = (...values: (string | number)[]): Position => ({ side: 'after', inclusive: false, values });

  type Lists = Pick<StatementLists<Product>, 'page' | 'count' | 'facets'>;
  const defined: Lists = {
    page: (query) => memory.list(query) as ReturnType<Lists['page']>,
    count: (filters) => memory.count(filters),
    facets: (query) => memory.facets(query),
  };

  /**
   * Expects the result of the memory store, and the plan of the statement that finds it: the last one, or that before the
   * records are read.
   */
  const expectPlan = async (plan: string, work: (of: Lists) => Promise<unknown>, at = -1) => {
    database.plans = [];
    expect(await work(lists)).to.deep.equal(await work(defined));
    expect(database.plans.at(at)).to.equal(plan);
  };

  const pages: [query: string, filters: Filter[], sort: string, from: Position | undefined, plan: string][] = [
    ['all', [], 'name,id', undefined, 'SEARCH products by products_name (name>?)'],
    ['live, newest first', [live], '-createdAt,-id', undefined, 'SCAN products by products_created_at'],
    [
      'few, by name',
      [cheap, brand],
      'name,id',
      behind('lamp 3', 5),
      'SEARCH products by products_price_amount (price.amount<?), USE sorter FOR ORDER BY',
    ],
    [
      'many, in another order',
      [dear, named],
      'name,-price.amount,id',
      undefined,
      'SEARCH products by products_name (name>?), USE sorter FOR RIGHT PART OF ORDER BY',
    ],
    [
      'a tag of many, by id',
      [tag, other],
      'id',
      behind(5),
      'SEARCH products_values by PRIMARY KEY (field=? AND value=? AND id>?), SEARCH products by id (id=?)',
    ],
    [
      'a tag of many, by name',
      [tag, red],
      'name,id',
      undefined,
      'SEARCH products by products_name (name>?), SEARCH products_values by PRIMARY KEY (field=? AND value=? AND id=?), SEARCH products_values by PRIMARY KEY (field=? AND value=? AND id=?)',
    ],
    [
      'a range of an attribute, by name',
      [small],
      'name,id',
      undefined,
      'SEARCH products by products_name (name>?), SEARCH products_values by PRIMARY KEY (field=? AND value>? AND value<?)',
    ],
    [
      'words, by name',
      [searchFor('lamp'), live],
      'name,id',
      undefined,
      'SEARCH products by products_name (name>?), SCAN json_each VIRTUAL TABLE INDEX 1:',
    ],
    ['no index', [other], 'id', behind(5), 'SEARCH products by id (id>?)'],
  ];
  for (const [name, filters, sort, from, plan] of pages)
    it(`finds a page by the index of few rows, else in the order of the list: ${name}`, async () => {
      const query = { filters, order: by(sort), limit: 5, from };
      const page = (of: Lists) => of.page(query).then(({ records }) => records.map(({ id }) => id));
      await expectPlan(plan, page, -2);
    });

  const counts: [what: string, filters: Filter[], plan: string][] = [
    ['all', [], 'SCAN products by products_updated_at'],
    ['few, and others', [cheap, other], 'SEARCH products by products_price_amount (price.amount<?)'],
    ['many', [dear], 'SEARCH products by products_price_amount (price.amount>?)'],
    [
      'many of a tag',
      [tag],
      'SEARCH products by id (id=?), SEARCH products_values by PRIMARY KEY (field=? AND value=?)',
    ],
    [
      'a rare attribute, and others',
      [rare, other],
      'SEARCH products by id (id=?), SEARCH products_values by PRIMARY KEY (field=?)',
    ],
    ['no index', [other], 'SCAN products'],
  ];
  for (const [name, filters, plan] of counts)
    it(`counts by the index of a part of the table, or by one that decides alone: ${name}`, async () => {
      await expectPlan(plan, (of) => of.count(filters));
    });

  it('counts by a prefix, which is no pattern', async () => {
    const prefixes = ['lamp', 'lamp_', 'lamp%', 'LAMP'];
    const filters = prefixes.map((value): Filter[] => [{ field: 'name', operator: 'prefix', value }]);
    const counts = await Promise.all(filters.map((some) => lists.count(some)));
    expect(counts).to.deep.equal([RECORDS, 0, 0, 0]);
  });

  const facets: [what: string, filters: Filter[], field: FacetField, after: FacetCount | undefined, plan: string][] = [
    ['few', [cheap], { field: 'brand' }, undefined, 'SEARCH products by products_price_amount (price.amount<?)'],
    ['all', [], { field: 'brand' }, undefined, 'SEARCH products by products_brand (brand>?), USE sorter FOR ORDER BY'],
    [
      'many',
      [tag],
      { field: 'brand' },
      undefined,
      'SEARCH products by products_brand (brand>?), SEARCH products_values by PRIMARY KEY (field=? AND value=? AND id=?), USE sorter FOR ORDER BY',
    ],
    [
      'tags of many',
      [brand, red],
      { field: 'tags' },
      undefined,
      'SEARCH products_values by PRIMARY KEY (field=?), SCAN products, SEARCH products_values by PRIMARY KEY (field=? AND value=? AND id=?), USE sorter FOR ORDER BY',
    ],
    [
      'an attribute of many',
      [tag],
      { field: 'attributes', key: 'mixed' },
      undefined,
      'SEARCH products_values by PRIMARY KEY (field=?), SCAN products, SEARCH products_values by PRIMARY KEY (field=? AND value=? AND id=?), USE sorter FOR ORDER BY, SEARCH products by id (id=?)',
    ],
    [
      'an attribute of all, behind a place',
      [],
      { field: 'attributes', key: 'mixed' },
      { value: 0.3, count: 14 },
      'SEARCH products_values by PRIMARY KEY (field=?), USE sorter FOR ORDER BY, SEARCH products by id (id=?)',
    ],
  ];
  for (const [name, filters, field, after, plan] of facets)
    it(`counts the values of few records, else those of the index of a field: ${name}`, async () => {
      await expectPlan(plan, (of) => of.facets({ filters, fields: [field], limit: 3, after }));
    });
});
