import { expect } from 'chai';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import type {
  Comparison,
  Facet,
  FacetQuery,
  ListPage,
  ListQuery,
  Membership,
} from '#src/application/ports/list-query.js';
import { DistinctLists } from '#src/application/records/distinct-lists.js';
import { QueryBudget } from '#src/application/records/lists.js';
import type { Product } from '#src/domain/product.js';
import type { Versioned } from '#src/domain/record.js';
import { Task } from '#src/shared/task-scheduler.js';
import { by, idsOf, product, query } from '../../../contract/repository/records.js';
import { UnevenClock } from '../../../support/fakes.js';
import { sized } from '../../../support/run-settings.js';
import { ENDLESS, PRODUCTS } from '../../../support/tables.js';

/** A list by id of two products for each of many groups: those of the first half of the ids come first. */
class PairedProducts {
  /** The most records and groups of one query. */
  most = 0;
  /** How often it was asked which groups come before. */
  asked = 0;
  /** Whether each query may take long, in their order. */
  readonly mayTakeLong: (boolean | undefined)[] = [];

  constructor(private readonly groups: number) {}

  async list({ limit, from, task }: ListQuery): Promise<ListPage<Versioned<Product>>> {
    this.mayTakeLong.push(task?.mayTakeLong);
    const place = Number(from?.values[0] ?? 0);
    const length = Math.min(limit, 2 * this.groups - place);
    this.most = Math.max(this.most, length);
    const records = Array.from({ length }, (_, at) => this.at(place + at + 1));
    return { records, hasMore: place + length < 2 * this.groups };
  }

  async facets({ filters, task }: FacetQuery): Promise<readonly Facet[]> {
    this.asked++;
    this.mayTakeLong.push(task?.mayTakeLong);
    const [{ value: end }, { values }] = filters as readonly [Comparison, Membership];
    this.most = Math.max(this.most, values.length);
    const before = values.filter((group) => Number(String(group).slice(1)) + 1 < Number(end));
    return [{ values: before.map((value) => ({ value, count: 1 })), hasMore: false }];
  }

  private at(id: number): Versioned<Product> {
    return product(id, { group: `g${(id - 1) % this.groups}` });
  }
}

const CARDS = { distinct: 'group' };

describe('a list of one record a group', () => {
  it('exports any number of groups, and keeps only some of them', async () => {
    const groups = sized({ gate: 5_000, night: 100_000 });
    const products = new PairedProducts(groups);
    const distinct = new DistinctLists<Product>(products, products, ENDLESS, 1_500);
    let next = 1;
    for await (const part of distinct.parts({ ...query({ limit: 64, task: new Task('reader') }), ...CARDS }))
      for (const { id } of part) expect(id).to.equal(next++);
    expect(next).to.equal(groups + 1);
    expect(products.most).to.equal(1_000);
    // The groups of the first two parts are kept.
    expect(products.asked).to.equal((2 * groups) / 1_000 - 2);
    // Nothing is refused after the first byte.
    const [first, ...others] = products.mayTakeLong;
    expect([first, new Set(others)]).to.deep.equal([false, new Set([true])]);
  });

  describe('of which one is large', () => {
    const products = new MemoryRepository<Product>(PRODUCTS, ENDLESS);
    // A reading of the clock takes a second, and a query may take two.
    const slow = () => new DistinctLists(products, products, new QueryBudget(new UnevenClock([1_000]), 2_000));
    const [one, three] = [1, 3].map((limit) => ({ ...query({ limit, order: by('id') }), ...CARDS })) as [
      ListQuery & typeof CARDS,
      ListQuery & typeof CARDS,
    ];

    before(async () => {
      const large = Array.from({ length: 3_000 }, (_, at) => product(at + 1, { group: 'large' }));
      await products.insertAll([...large, product(3_001), product(3_002)]);
    });

    it('is too expensive if the page is not full in time', async () => {
      const error = await slow()
        .list(three)
        .catch((reason) => reason);
      expect(error).to.have.property('code', 'query_too_expensive');
    });

    it('says that there may be more if the page is full, but not the search for one more', async () => {
      const { records, hasMore } = await slow().list(one);
      expect([idsOf(records), hasMore]).to.deep.equal([[1], true]);
    });
  });
});
