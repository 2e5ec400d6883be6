import { expect } from 'chai';
import type { ListPage, ListQuery } from '#src/application/records/list-query.js';
import { paginate } from '#src/application/records/paginate.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import { at, by, idsOf, product, query } from '../../../contract/repository/records.js';
import { openMemory } from '../../../support/open-memory.js';

/** Gives these pages one after the other, whatever is asked, and remembers what was. */
class Scripted {
  readonly requested: ListQuery[] = [];

  constructor(private readonly pages: ListPage<Versioned<Product>>[]) {}

  async list(query: ListQuery): Promise<ListPage<Versioned<Product>>> {
    this.requested.push(query);
    const page = this.pages.shift();
    if (!page) throw new Error('One page too many was asked for.');
    return page;
  }
}

async function idsOfPages(pages: AsyncIterable<readonly { id: Id }[]>): Promise<Id[][]> {
  const all: Id[][] = [];
  for await (const page of pages) all.push(idsOf(page));
  return all;
}

describe('every page', () => {
  it('goes through a whole list, in its order and with its filters', async () => {
    const { products } = await openMemory();
    for (let id = 1; id <= 7; id++) await products.insert(product(id, { name: id % 2 ? 'b' : 'a' }));
    const wanted = query({
      limit: 2,
      order: by('-name,id'),
      filters: [{ field: 'id', operator: 'ne', value: 4 }],
    });
    expect(await idsOfPages(paginate(products, wanted))).to.deep.equal([
      [1, 3],
      [5, 7],
      [2, 6],
    ]);
  });

  it('begins at the place that is asked for', async () => {
    const { products } = await openMemory();
    for (let id = 1; id <= 5; id++) await products.insert(product(id));
    const pages = paginate(products, query({ limit: 2, from: at('after', 2) }));
    expect(await idsOfPages(pages)).to.deep.equal([[3, 4], [5]]);
  });

  it('asks for the next page from behind the last record of the one before', async () => {
    const scripted = new Scripted([
      { records: [product(1), product(4)], hasMore: true },
      { records: [product(9)], hasMore: false },
    ]);
    const wanted = query({ limit: 2, order: by('name,-id'), from: at('after', 'a', 0) });
    expect(await idsOfPages(paginate(scripted, wanted))).to.deep.equal([[1, 4], [9]]);
    expect(scripted.requested).to.deep.equal([
      wanted,
      { ...wanted, isContinuation: true, from: at('after', 'product 4', 4) },
    ]);
  });

  it('asks for no page before it is wanted', async () => {
    const scripted = new Scripted([{ records: [product(1)], hasMore: true }]);
    const pages = paginate(scripted, query({ limit: 1 }));
    expect(scripted.requested).to.have.length(0);
    await pages.next();
    expect(scripted.requested).to.have.length(1);
    await pages.return();
    expect(scripted.requested).to.have.length(1);
  });

  it('ends where a store was not sure that more would come, and nothing did', async () => {
    const scripted = new Scripted([
      { records: [product(1)], hasMore: true },
      { records: [], hasMore: false },
    ]);
    expect(await idsOfPages(paginate(scripted, query({ limit: 1 })))).to.deep.equal([[1], []]);
  });

  it('fails as the store does, after the pages that came before', async () => {
    const scripted = new Scripted([{ records: [product(1)], hasMore: true }]);
    const seen: Id[][] = [];
    let failure: unknown;
    try {
      for await (const page of paginate(scripted, query({ limit: 1 }))) seen.push(idsOf(page));
    } catch (error) {
      failure = error;
    }
    expect(seen).to.deep.equal([[1]]);
    expect(failure).to.be.instanceOf(Error).with.property('message', 'One page too many was asked for.');
  });
});
