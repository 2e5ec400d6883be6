import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { BY_ID, type ListPage, type ListQuery, type Position } from '#src/application/ports/list-query.js';
import { OrderedLists, paginate, partitionPoint, TopN, takePage } from '#src/application/records/lists.js';
import { StoredRecord } from '#src/application/records/record-json.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import { BACKGROUND } from '#src/shared/task-scheduler.js';
import { at, by, idsOf, product, query } from '../../../contract/repository/records.js';
import { ENDLESS, PRODUCTS } from '../../../support/tables.js';

/** Returns these pages in order for any query, and records the queries. */
class ScriptedRepository {
  readonly queries: ListQuery[] = [];

  constructor(private readonly pages: ListPage<Versioned<Product>>[]) {}

  async list(query: ListQuery): Promise<ListPage<Versioned<Product>>> {
    this.queries.push(query);
    const page = this.pages.shift();
    if (!page) throw new Error('No page is left.');
    return page;
  }
}

async function idsOfPages(pages: AsyncIterable<readonly { id: Id }[]>): Promise<Id[][]> {
  const all: Id[][] = [];
  for await (const page of pages) all.push(idsOf(page));
  return all;
}

describe('paginate', () => {
  it('iterates over a whole list, in its order and with its filters', async () => {
    const products = new MemoryRepository<Product>(PRODUCTS, ENDLESS);
    for (let id = 1; id <= 7; id++) await products.insertAll([product(id, { name: id % 2 ? 'b' : 'a' })]);
    const firstQuery = query({ limit: 2, order: by('-name,id'), filters: [{ field: 'id', operator: 'ne', value: 4 }] });
    expect(await idsOfPages(paginate(products, firstQuery))).to.deep.equal([
      [1, 3],
      [5, 7],
      [2, 6],
    ]);
  });

  it('starts at the given position', async () => {
    const products = new MemoryRepository<Product>(PRODUCTS, ENDLESS);
    for (let id = 1; id <= 5; id++) await products.insertAll([product(id)]);
    const pages = paginate(products, query({ limit: 2, from: at('after', 2) }));
    expect(await idsOfPages(pages)).to.deep.equal([[3, 4], [5]]);
  });

  it('requests the next page after the last record of the previous one', async () => {
    const repository = new ScriptedRepository([
      { records: [product(1), product(4)], hasMore: true },
      { records: [product(9)], hasMore: false },
    ]);
    const firstQuery = query({ limit: 2, order: by('name,-id'), from: at('after', 'a', 0) });
    expect(await idsOfPages(paginate(repository, firstQuery))).to.deep.equal([[1, 4], [9]]);
    expect(repository.queries).to.deep.equal([
      firstQuery,
      { ...firstQuery, task: BACKGROUND.unlimited(), from: at('after', 'product 4', 4) },
    ]);
  });

  it('requests a page only when the caller needs it', async () => {
    const repository = new ScriptedRepository([{ records: [product(1)], hasMore: true }]);
    const pages = paginate(repository, query({ limit: 1 }));
    expect(repository.queries).to.have.length(0);
    await pages.next();
    expect(repository.queries).to.have.length(1);
    await pages.return();
    expect(repository.queries).to.have.length(1);
  });

  it('ends with an empty page if the store announced more records than it has', async () => {
    const repository = new ScriptedRepository([
      { records: [product(1)], hasMore: true },
      { records: [], hasMore: false },
    ]);
    expect(await idsOfPages(paginate(repository, query({ limit: 1 })))).to.deep.equal([[1], []]);
  });

  it('passes on an error of the store, after the pages before it', async () => {
    const repository = new ScriptedRepository([{ records: [product(1)], hasMore: true }]);
    const seen: Id[][] = [];
    let failure: unknown;
    try {
      for await (const page of paginate(repository, query({ limit: 1 }))) seen.push(idsOf(page));
    } catch (error) {
      failure = error;
    }
    expect(seen).to.deep.equal([[1]]);
    expect(failure).to.be.instanceOf(Error).with.property('message', 'No page is left.');
  });
});

describe('lists by any order', () => {
  it('give a store no position without a value for the first field, also if a filter asks for a value', async () => {
    const queries: ListQuery[] = [];
    const records = {
      list: async (query: ListQuery) => {
        queries.push(query);
        return { records: [], hasMore: false };
      },
    };
    const lists = new OrderedLists(records, PRODUCTS.fields);
    for (const side of ['after', 'before'] as const) {
      const from: Position = { side, inclusive: false, values: [null, 7] };
      await lists.list({
        limit: 5,
        filters: [{ field: 'stock', operator: 'gte', value: 0 }],
        order: [{ field: 'stock', descending: false }, ...BY_ID],
        from,
      });
    }
    expect(queries.map(({ order, from }) => [order.map(({ field }) => field).join(), from?.values])).to.deep.equal([
      ['id', [7]],
      ['id', [7]],
      ['stock,id', []],
    ]);
    for (const { from, order } of queries) if (order.length > 1) expect(from?.values[0]).to.not.equal(null);
  });
});

describe('takePage', () => {
  /** Records of 10 bytes each. */
  const records = [1, 2, 3, 4].map((id) => StoredRecord.fromJson(id, 1, 0, 0, '{"a":"xx"}'));
  const idsOf = (limit: number, maxBytes: number) => takePage(records, limit, maxBytes).map(({ id }) => id);

  it('ends after the limit', () => {
    expect(idsOf(3, 1_000)).to.deep.equal([1, 2, 3]);
    expect(idsOf(9, 1_000)).to.deep.equal([1, 2, 3, 4]);
  });

  it('ends with the record that reaches the number of bytes, and has one at least', () => {
    expect(idsOf(9, 20)).to.deep.equal([1, 2]);
    expect(idsOf(9, 21)).to.deep.equal([1, 2, 3]);
    expect(idsOf(9, 1)).to.deep.equal([1]);
  });
});

describe('TopN', () => {
  it('returns the first N items of a stable sort', () => {
    const items = fc.array(fc.record({ key: fc.nat(9), arrival: fc.nat() }));
    fc.assert(
      fc.property(items, fc.integer({ min: 1, max: 12 }), (all, count) => {
        const byKey = (a: { key: number }, b: { key: number }) => a.key - b.key;
        const top = new TopN(count, byKey);
        for (const item of all) top.add(item);
        expect(top.inOrder()).to.deep.equal(all.toSorted(byKey).slice(0, count));
      }),
      { numRuns: 300 },
    );
  });
});

describe('partitionPoint', () => {
  it('is the number of items that come first', () => {
    for (const length of [0, 1, 2, 7, 8])
      for (let first = 0; first <= length; first++)
        for (let end = first; end <= length; end++) {
          const items = Array.from({ length }, (_, i) => i);
          expect(partitionPoint(items, (item) => item < first, Math.min(first, 1), end)).to.equal(first);
        }
  });

  it('looks at the last item first, so that appending is quick', () => {
    const seen: number[] = [];
    partitionPoint([1, 2, 3, 4], (item) => seen.push(item) > 0);
    expect(seen).to.deep.equal([4]);
  });
});
