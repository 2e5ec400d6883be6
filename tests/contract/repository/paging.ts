import { expect } from 'chai';
import type { Filter, ListPage, ListQuery, Position, SortOrder } from '#src/application/ports/list-query.js';
import type { Product } from '#src/domain/product.js';
import type { Versioned } from '#src/domain/record.js';
import { compareByOrder, keysOf, outermostPosition, sorted } from './expected.js';
import { AT, by, product, query } from './records.js';
import type { TestStore } from './test-store.js';

/** Sorts with and without ties in the keys before the last; each key in both directions. */
const SORTS = [
  ...['id', '-id', 'name,id', 'name,-id', '-name,id', '-name,-id'],
  ...['createdAt,id', '-createdAt,-id', 'updatedAt,-id', '-updatedAt,id'],
  ...['name,createdAt,id', 'name,-createdAt,id', '-name,createdAt,-id', 'createdAt,name,id'],
  ...['-createdAt,updatedAt,-name,id', 'updatedAt,-name,createdAt,-id', '-updatedAt,-createdAt,-name,-id'],
];

/** Records with few different values, so that they tie, and with ids that differ from the order of creation. */
const RECORDS = [5, 2, 11, 8, 1, 14, 9, 3, 20, 2 ** 53 - 1, 12, 6].map((id, at) => ({
  ...product(id, { name: ['b', 'B', '', 'ba', 'b', 'é'][at % 6] ?? '', sku: `s${at}` }),
  createdAt: AT + (at % 3),
  updatedAt: AT + 10 * (at % 4),
}));

/** Positions without a record: before, between and after the records. */
const NO_RECORDS: readonly Versioned<{ readonly name: string }>[] = [
  ...['', 'A', 'b', 'bZ', 'zzz'].flatMap((name, at) => [
    { ...product(7, { name }), createdAt: AT + 0.5, updatedAt: AT + 10 * at },
    { ...product(7, { name }), createdAt: AT + (at % 3), updatedAt: AT + 15 },
    { ...product(100 + at, { name }), createdAt: AT + 1, updatedAt: AT + 10 },
  ]),
  { ...product(0, { name: '' }), createdAt: 0, updatedAt: 0 },
  { ...product(2 ** 53 - 1, { name: '\uffff' }), createdAt: AT * 2, updatedAt: AT * 2 },
];

const FILTER: Filter = { field: 'name', operator: 'prefix', value: 'b' };

export function pagingContract(store: TestStore): void {
  const page = (list: Partial<ListQuery>) => store.products.list(query(list));
  const insertAll = () => store.addAll(RECORDS);
  const filtered = (filters: readonly Filter[]) =>
    RECORDS.filter(({ fields }) => filters.length === 0 || fields.name.startsWith('b'));

  describe('order and pages', () => {
    it('are empty for an empty store', async () => {
      for (const from of [
        undefined,
        { side: 'after', values: [3] },
        { side: 'before', values: [3] },
      ] as const) {
        const position = from && { from: { ...from, inclusive: true } };
        expect(await page({ ...position })).to.deep.equal({ records: [], hasMore: false });
      }
    });

    it('contain complete records', async () => {
      const record = await store.add(1, { sku: 'x', attributes: { 'a.b': 1 } });
      expect(await page({ limit: 1 })).to.deep.equal({ records: [record], hasMore: false });
      expect(await page({ order: by('-name,id') })).to.deep.equal({ records: [record], hasMore: false });
    });

    for (const sort of SORTS) {
      it(`follow ${sort}, forwards and backwards, with any limit`, async () => {
        await insertAll();
        const order = by(sort);
        for (const filters of [[], [FILTER]]) {
          const all = sorted(filtered(filters), order);
          expect(await page({ filters, order })).to.deep.equal({ records: all, hasMore: false });
          for (const limit of [1, 2, 3, all.length]) {
            const base = { limit, filters, order };
            expect(await readPages(page, base, 'after'), `limit ${limit}`).to.deep.equal(chunks(all, limit));
            const back = chunks(all.toReversed(), limit).map((chunk) => chunk.reverse());
            expect(await readPages(page, base, 'before'), `back, limit ${limit}`).to.deep.equal(back);
          }
        }
      });

      it(`start by ${sort} at any position, with or without a record`, async () => {
        await insertAll();
        const order = by(sort);
        const positions = [...RECORDS, ...NO_RECORDS].map((record) => keysOf(record, order));
        for (const values of positions) {
          for (const inclusive of [false, true]) {
            for (const side of ['after', 'before'] as const) {
              const from: Position = { side, inclusive, values };
              const expected = pageFrom(sorted(RECORDS, order), order, from, 3);
              expect(await page({ limit: 3, order, from }), JSON.stringify(from)).to.deep.equal(expected);
            }
          }
        }
      });
    }

    it('continue at the position of a deleted record', async () => {
      await insertAll();
      for (const sort of ['id', '-name,id', 'createdAt,-id']) {
        const order = by(sort);
        const all = sorted(await remaining(store), order);
        const deleted = all[Math.floor(all.length / 2)];
        if (!deleted) throw new Error('No record is left.');
        const values = keysOf(deleted, order);
        expect(await store.products.removeAll([{ id: deleted.id, expected: 1, at: AT }])).to.deep.equal([
          true,
        ]);
        const rest = all.filter(({ id }) => id !== deleted.id);
        for (const inclusive of [false, true]) {
          for (const side of ['after', 'before'] as const) {
            const from = { side, inclusive, values };
            expect(await page({ limit: 2, order, from })).to.deep.equal(pageFrom(rest, order, from, 2));
          }
        }
      }
    });

    it('move a replaced record to its new position', async () => {
      const old = await store.add(1, { name: 'a' });
      await store.add(2, { name: 'b' });
      expect(await store.ids({ order: by('name,id') })).to.deep.equal([1, 2]);
      await store.products.replaceAll([
        { record: { ...old, version: 2, updatedAt: AT + 1, fields: { name: 'c' } }, expected: 1 },
      ]);
      expect(await store.ids({ order: by('name,id') })).to.deep.equal([2, 1]);
      expect(await store.ids({ order: by('-updatedAt,id') })).to.deep.equal([1, 2]);
    });
  });
}

type Page = ListPage<Versioned<Product>>;

/** Reads all pages in one direction, each from the edge of the previous one. Backwards, the last page comes first. */
async function readPages(
  page: (query: Partial<ListQuery>) => Promise<Page>,
  list: Pick<ListQuery, 'limit' | 'filters' | 'order'>,
  side: Position['side'],
): Promise<Versioned<Product>[][]> {
  const pages: Versioned<Product>[][] = [];
  let from = side === 'before' ? outermostPosition(list.order, side) : undefined;
  for (;;) {
    const { records, hasMore } = await page({ ...list, ...(from && { from }) });
    pages.push([...records]);
    const edge = side === 'after' ? records.at(-1) : records[0];
    if (!hasMore || !edge) return pages;
    from = { side, inclusive: false, values: keysOf(edge, list.order) };
  }
}

/** The expected page at a position. */
function pageFrom(all: readonly Versioned<Product>[], order: SortOrder, from: Position, limit: number): Page {
  const beyond = all.filter((record) => {
    const distance = compareByOrder(order, keysOf(record, order), from.values);
    return (from.side === 'after' ? distance > 0 : distance < 0) || (from.inclusive && distance === 0);
  });
  const records = from.side === 'after' ? beyond.slice(0, limit) : beyond.slice(-limit);
  return { records, hasMore: beyond.length > limit };
}

function chunks<One>(all: readonly One[], size: number): One[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  );
}

async function remaining(store: TestStore): Promise<Versioned<Product>[]> {
  const ids = new Set(await store.ids({}));
  return RECORDS.filter(({ id }) => ids.has(id));
}
