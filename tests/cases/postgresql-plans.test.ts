import { expect } from 'chai';
import pg from 'pg';
import { columnsOf } from '#src/adapters/outbound/postgresql/columns.js';
import { PostgresqlFeed } from '#src/adapters/outbound/postgresql/feed.js';
import { type Part, pageStatement } from '#src/adapters/outbound/postgresql/lists.js';
import type { PostgresqlStore, Statement } from '#src/adapters/outbound/postgresql/store.js';
import { DERIVED_VERSION } from '#src/application/ports/derived-data.js';
import {
  BY_ID,
  type Filter,
  MAX_PAGE_BYTES,
  type Position,
  type RecordTable,
  type Value,
} from '#src/application/ports/list-query.js';
import { at, by } from '../contract/repository/records.js';
import { POSTGRESQL } from '../stores/postgresql.js';
import { type NewStore, openNew } from '../stores/provider.js';
import { searchFor } from '../support/reference-search.js';
import { ORDERS, PRODUCTS, USERS } from '../support/tables.js';

/** So many that reading all of them costs more than any index. There are 100 brands, 50 tags, and 2 names of users. */
const RECORDS = 20_000;
/** The different sizes of products. */
const SIZES = 900;

/** Value: the arrays of attributes. */
const PRODUCT_ROWS = `
  INSERT INTO products (id, version, created_at, updated_at, fields, derived, name, sku, "price.amount", brand, tags, attributes,
      "attributes document", words)
    SELECT i, 1, i / 3, i / 5, '{"name":"x"}', ${DERIVED_VERSION}, 'n' || i % 5000, 's' || i, i % 1000,
      CASE WHEN i % 10 > 0 THEN 'b' || i % 100 END, ARRAY['t' || i % 50], ($1::text[])[i % ${SIZES} + 1]::text[],
      jsonb_build_object('size', i % ${SIZES}), (i / 8192 || '.lamp ' || i / 8192 || '.w' || i)::tsvector
    FROM generate_series(1, ${RECORDS}) AS i`;

const ROWS = `
  INSERT INTO products_values SELECT 'tags', 't' || i % 50, i FROM generate_series(1, ${RECORDS}) AS i;
  INSERT INTO users (id, version, created_at, updated_at, fields, derived, name, email, "email folded", words)
    SELECT i, 1, i, i, '{}', ${DERIVED_VERSION}, 'n' || i % 2, 'A' || i || '@x', 'a' || i || '@x', '' FROM generate_series(1, ${RECORDS}) AS i;
  INSERT INTO orders (id, version, created_at, updated_at, fields, derived, "userId")
    SELECT i, 1, i, i, '{}', ${DERIVED_VERSION}, i % 100 FROM generate_series(1, ${RECORDS}) AS i;`;

/** Makes the server take the products for a million, on many pages. */
const MANY = [
  'ALTER TABLE products SET (fillfactor = 10)',
  'VACUUM FULL ANALYZE products',
  `UPDATE pg_class SET reltuples = reltuples * 50 WHERE relnamespace = current_schema()::regnamespace`,
];

/** Of products in the middle of each order; they lack `stock`. */
const PLACES = new Map<string, Value>([
  ...Object.entries({ id: 500, createdAt: 500, brand: 'b7', sku: 's7', 'price.amount': 500 }),
]);

interface Plan {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

if (!POSTGRESQL.isMissing)
  describe('the plans of PostgreSQL', () => {
    let opened: NewStore;
    let client: pg.Client;

    before(async () => {
      opened = await openNew(POSTGRESQL);
      client = new pg.Client({ connectionString: opened.settings['POSTGRESQL_URL'] ?? '' });
      await client.connect();
      const attributes = columnsOf(PRODUCTS).find(({ name }) => name === '"attributes"');
      const arrays = Array.from({ length: SIZES }, (_, size) =>
        attributes?.cellOf({ id: 1, version: 1, createdAt: 1, updatedAt: 1, fields: { attributes: { size } } }),
      );
      await client.query(PRODUCT_ROWS, [arrays]);
      await client.query(ROWS);
      // It also puts the entries that wait for it into the indexes of arrays, which the server would read one by one.
      await client.query('VACUUM ANALYZE products, products_values, users, orders');
    });
    after(async () => {
      await client.end();
      await opened.close();
    });

    /** What a page is read from, and whether rows are sorted that no index sorts. */
    const planOf = async (table: RecordTable, part: Partial<Part>, isFast = true) => {
      const { text, values } = pageStatement(table, { filters: [], order: BY_ID, ...part }, 21, MAX_PAGE_BYTES, isFast);
      const { rows } = await client.query(`EXPLAIN (FORMAT JSON) ${text}`, [...values]);
      const nodes = nodesOf(rows[0]['QUERY PLAN'][0].Plan);
      return {
        indexes: [...new Set(nodes.flatMap((node) => node['Index Name'] ?? []))],
        reads: nodes.flatMap((node) => node['Index Name'] ?? []),
        isSorted: nodes.some((node) => node['Node Type'] === 'Sort'),
        isWhole: nodes.some((node) => node['Node Type'] === 'Seq Scan'),
      };
    };
    const served = (...indexes: string[]) => ({ indexes, reads: indexes, isSorted: false, isWhole: false });

    for (const [sort, index, ...values] of [
      ['id', 'products_live', 500],
      ['-id', 'products_live', 500],
      ['name,id', 'products_name', 'n7', 500],
      ['-name,id', 'products_name', 'n7', 500],
      ['-name,-id', 'products_name', 'n7', 500],
      ['createdAt,id', 'products_created_at', 500, 1_500],
      ['-createdAt,id', 'products_created_at', 500, 1_500],
      ['-updatedAt,id', 'products_updated_at', 500, 1_500],
      ['-updatedAt,name,-id', 'products_updated_at', 500, 'n7', 1_500],
    ] as const)
      it(`reads a page by ${sort} from its index, at any position`, async () => {
        const order = by(sort);
        for (const from of [undefined, at('after', ...values), at('before', ...values)])
          for (const isFast of [true, false]) {
            const part = { order, ...(from && { from }) };
            const { indexes, isWhole } = await planOf(PRODUCTS, part, isFast);
            expect({ indexes, isWhole }).to.deep.equal({ indexes: [index], isWhole: false });
          }
        expect(await planOf(PRODUCTS, { order, from: at('after', ...values) })).to.deep.equal(served(index));
      });

    for (const [sort, index] of [
      ['brand,id', 'products_brand'],
      ['-brand,id', 'products_brand'],
      ['-brand,-id', 'products_brand'],
      ['brand,-createdAt,id', 'products_brand'],
      ['price.amount,id', 'products_price_amount'],
      ['-price.amount,stock,id', 'products_price_amount'],
      ['sku,id', 'products_sku'],
      ['-sku,id', 'products_sku'],
    ] as const)
      it(`reads a page by ${sort}, which records may lack, from its index, at any position`, async () => {
        const order = by(sort);
        const filters: Filter[] = [{ field: order[0]?.field ?? '', operator: 'exists', value: true }];
        const values = order.map(({ field }) => PLACES.get(field) ?? null);
        const end: Position = { side: 'before', inclusive: true, values: [] };
        const inside = (side: Position['side']): Position => ({ side, inclusive: false, values });
        for (const from of [undefined, end, inside('after'), inside('before')]) {
          const { indexes, isWhole, isSorted } = await planOf(PRODUCTS, { filters, order, ...(from && { from }) });
          expect({ indexes, isWhole, isSorted }).to.deep.equal({ indexes: [index], isWhole: false, isSorted: false });
        }
      });

    for (const [name, filter, ...indexes] of [
      ['a tag', { field: 'tags', operator: 'eq', value: 't7' }, 'products_values_pkey', 'products_live'],
      ['a brand', { field: 'brand', operator: 'eq', value: 'b7' }, 'products_brand'],
      ['no brand', { field: 'brand', operator: 'exists', value: false }, 'products_brand'],
      ['a unique value', { field: 'sku', operator: 'eq', value: 's77' }, 'products_sku'],
    ] satisfies [string, Filter, ...string[]][])
      it(`reads a page of ${name} from its index, in the order of ids`, async () => {
        const filters = [filter];
        for (const from of [undefined, at('after', 10_000), at('before', 10_000)]) {
          const plan = await planOf(PRODUCTS, { filters, ...(from && { from }) });
          expect(plan.indexes).to.have.members(indexes);
          expect(plan.isWhole).to.equal(false);
          if (name !== 'a unique value') expect(plan.isSorted).to.equal(false);
        }
      });

    it('reads the newest records that refer to another one from their index', async () => {
      const filters: Filter[] = [{ field: 'userId', operator: 'eq', value: 7 }];
      const part = { filters, order: by('-createdAt,id') };
      expect(await planOf(ORDERS, part)).to.deep.equal(served('orders_userId_created_at'));
    });

    it('finds a value of a field that ignores case by its folded copy', async () => {
      const filters: Filter[] = [{ field: 'email', operator: 'eq', value: 'A77@X' }];
      expect((await planOf(USERS, { filters })).indexes).to.deep.equal(['users_email_folded']);
    });

    const size = { field: 'attributes', operator: 'attribute', key: 'size' } as const;
    for (const [name, ...filters] of [
      ['the value', { ...size, value: '7' }],
      ['one of some values', { ...size, values: ['7', '8'] }],
      ['a key', { ...size, key: 'colour', exists: true }],
      ['numbers', { ...size, comparison: 'lt', number: 1 }],
      ['numbers of a range', { ...size, comparison: 'gt', number: 20 }, { ...size, comparison: 'lt', number: 21.5 }],
    ] satisfies [string, ...Filter[]][])
      it(`finds ${name} of attributes by their index`, async () => {
        const { indexes, isWhole } = await planOf(PRODUCTS, { filters });
        expect(indexes).to.deep.equal(['products_tags_attributes']);
        expect(isWhole).to.equal(false);
      });

    it('intersects a tag and an attribute in one index, in any order', async () => {
      const filters: Filter[] = [
        { field: 'tags', operator: 'eq', value: 't7' },
        { ...size, value: '7' },
        { field: 'price.amount', operator: 'gte', value: 5 },
      ];
      for (const sort of ['id', '-id', 'name,id', 'price.amount,id']) {
        const { indexes, isWhole } = await planOf(PRODUCTS, { filters, order: by(sort) });
        expect({ indexes, isWhole }).to.deep.equal({ indexes: ['products_tags_attributes'], isWhole: false });
      }
    });

    it('reads a feed from its index, however many changes there are', async () => {
      const statements: { text: string; values: readonly unknown[] }[] = [];
      const run = async ({ text }: Statement, values: readonly unknown[]) => {
        statements.push({ text, values });
        return [['0'.repeat(32), '1', 1]];
      };
      const feed = new PostgresqlFeed({ run } as unknown as PostgresqlStore, PRODUCTS);
      const end = await feed.end();
      for (const limit of [1, 1_000]) await feed.read(end, limit);
      await client.query(`UPDATE products SET change = (id % 5000)::text::xid8; ANALYZE products`);
      for (const mode of ['force_custom_plan', 'force_generic_plan'])
        for (const { text, values } of statements) {
          await client.query(`SET plan_cache_mode = ${mode}; PREPARE feed AS ${text}`);
          const given = values.length > 0 ? `(${values.map((value) => `'${value}'`)})` : '';
          const { rows } = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE feed ${given}`);
          const nodes = nodesOf(rows[0]['QUERY PLAN'][0].Plan);
          const reads = nodes.filter((node) => node['Relation Name'] === 'products');
          expect(reads.map((node) => node['Index Name'])).to.deep.equal(['products_change']);
          await client.query('DEALLOCATE feed; RESET plan_cache_mode');
        }
      for (const [at, { text, values }] of statements.entries())
        for (let round = 0; round < 7; round++) await client.query({ name: `feed ${at}`, text, values: [...values] });
      const plans = `SELECT bool_and(generic_plans > 0) AS "areKept" FROM pg_prepared_statements WHERE name LIKE 'feed %'`;
      expect((await client.query(plans)).rows).to.deep.equal([{ areKept: true }]);
    });

    describe('of searches by words', () => {
      before(async () => {
        for (const text of MANY) await client.query(text);
      });

      for (const table of [PRODUCTS, USERS])
        for (const sort of ['id', '-createdAt,id'])
          it(`reads the index of words of ${table.name} whether one is rare or common, by ${sort}`, async () => {
            for (const [text, high] of [
              ['lamp', 8_191],
              ['w77', 8_191],
              ['lamp w77', Number.POSITIVE_INFINITY],
            ] as const) {
              const part = { filters: [searchFor(text)], order: by(sort), range: { low: 0, high } };
              const { indexes, reads, isWhole } = await planOf(table, part);
              const expected = ['live', 'words', 'long_text'].map((index) => `${table.name}_${index}`);
              expect(indexes).to.have.members(expected);
              expect(isWhole).to.equal(false);
              const steps = reads.filter((index) => index === `${table.name}_words`);
              expect(steps).to.have.length(sort === 'id' ? 4 : 1);
            }
          });

      it('keeps the plan of a search by id, which depends on no value', async () => {
        const part = { filters: [searchFor('lamp')], range: { low: 0, high: 99_999 } };
        const { text, values } = pageStatement(PRODUCTS, { ...part, order: BY_ID }, 21, MAX_PAGE_BYTES, true);
        for (let round = 0; round < 7; round++) await client.query({ name: 'search', text, values: [...values] });
        const plans = `SELECT generic_plans > 0 AS "isKept" FROM pg_prepared_statements WHERE name = 'search'`;
        expect((await client.query(plans)).rows).to.deep.equal([{ isKept: true }]);
      });
    });
  });

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
