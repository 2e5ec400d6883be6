import { expect } from 'chai';
import type { Filter, Position, SortOrder } from '#src/application/ports/list-query.js';
import { OrderedLists } from '#src/application/records/lists.js';
import { fieldValue, positionOf } from '#src/application/records/query-semantics.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import { PRODUCTS } from '../../support/tables.js';
import { by, idsOf, product, query } from './records.js';
import type { TestStore } from './test-store.js';

const BRANDS = [undefined, 'a', 'B', '\uffff', '😀'];
const STOCKS = [undefined, 0, 10, 9];
const STATUSES = [undefined, 'draft', 'archived'] as const;

/** Products with each combination of values, none of which follows the order of the ids. */
const RECORDS = BRANDS.flatMap((brand, i) =>
  STOCKS.flatMap((stock, j) =>
    STATUSES.map((status, k) => {
      const id = ((i * STOCKS.length + j) * STATUSES.length + k) * 7;
      const price = { amount: stock ?? 0, currency: brand ?? '' };
      return product((id % 60) + 1, {
        ...(brand !== undefined && { brand }),
        ...(stock !== undefined && { stock }),
        ...(status && { status }),
        ...(brand !== undefined && stock !== undefined && { price }),
      });
    }),
  ),
);

/** Of the records of a page. */
const LIMIT = 7;

const SORTS = [
  ...['brand,id', '-brand,id', '-brand,-id', 'stock,id', '-stock,id', 'status,-id', '-price.amount,id'],
  ...['brand,stock,id', '-brand,stock,id', 'brand,-stock,-id', 'stock,-status,brand,id', '-status,-stock,id'],
  ...[
    'createdAt,brand,id',
    'createdAt,-stock,status,id',
    'sku,id',
    'name,brand,id',
    'price.currency,-price.amount,id',
  ],
];

const FILTERS: Filter[][] = [
  [],
  [{ field: 'id', operator: 'gt', value: 20 }],
  [{ field: 'brand', operator: 'gte', value: 'a' }],
  [{ field: 'stock', operator: 'exists', value: false }],
  [{ field: 'status', operator: 'exists', value: true }],
  [{ field: 'status', operator: 'in', values: ['draft'] }],
  [{ field: 'status', operator: 'inOrNone', values: ['draft'] }],
  [
    { field: 'brand', operator: 'exists', value: false },
    { field: 'stock', operator: 'exists', value: false },
  ],
];

/** The order by any field with one value: a record that lacks it comes last. */
export function orderContract(store: TestStore): void {
  describe('orders by fields that records may lack', () => {
    const read = async (order: SortOrder, filters: readonly Filter[], side: Position['side']) => {
      const lists = new OrderedLists(store.products, PRODUCTS.fields);
      const end: Position = { side, inclusive: true, values: [] };
      const pages: Id[][] = [];
      for (let from = side === 'before' ? end : undefined; ; ) {
        const { records, hasMore } = await lists.list(query({ limit: LIMIT, filters, order, from }));
        pages.push(idsOf(records));
        const edge = side === 'after' ? records.at(-1) : records[0];
        if (!hasMore || !edge) return pages;
        from = positionOf(edge, order, side);
      }
    };

    for (const sort of SORTS)
      it(`put what lacks a field last: ${sort}`, async () => {
        await store.addAll(RECORDS);
        const order = by(sort);
        for (const filters of FILTERS) {
          const found = RECORDS.filter((record) => filters.every((filter) => matches(record, filter)));
          const expected = idsOf(found.toSorted((a, b) => compare(order, a, b)));
          const [forwards, backwards] = [
            await read(order, filters, 'after'),
            await read(order, filters, 'before'),
          ];
          const text = JSON.stringify(filters);
          expect(forwards.flat(), text).to.deep.equal(expected);
          expect(backwards.toReversed().flat(), `${text} backwards`).to.deep.equal(expected);
          const pages = Math.max(1, Math.ceil(expected.length / LIMIT));
          expect([forwards.length, backwards.length], `the pages of ${text}`).to.deep.equal([pages, pages]);
        }
      });
  });
}

function matches({ id, fields }: Versioned<Product>, filter: Filter): boolean {
  if (filter.field === 'id') return id > 20;
  const own = fields[filter.field as 'brand' | 'stock' | 'status'];
  if (filter.operator === 'exists') return (own !== undefined) === filter.value;
  if (filter.operator === 'in') return own === 'draft';
  if (filter.operator === 'inOrNone') return own === 'draft' || own === undefined;
  return own !== undefined && Buffer.compare(Buffer.from(String(own)), Buffer.from('a')) >= 0;
}

function compare(order: SortOrder, a: Versioned<Product>, b: Versioned<Product>): number {
  for (const { field, descending } of order) {
    const [one, other] = [fieldValue(a, field), fieldValue(b, field)];
    if (one === other) continue;
    if (one === undefined) return 1;
    if (other === undefined) return -1;
    const difference =
      typeof one === 'number'
        ? one - Number(other)
        : Buffer.compare(Buffer.from(one), Buffer.from(String(other)));
    return descending ? -difference : difference;
  }
  return 0;
}
