import { expect } from 'chai';
import {
  chosenRange,
  filtersOfRange,
  firstRequest,
  ofCurrency,
  priceRanges,
  pricesOf,
  toggledRange,
} from '#packages/pages/console/facets/price-ranges.js';
import type { Filter, ListState } from '#packages/pages/console/list-query.js';
import type { Resource } from '#packages/pages/console/types.js';

const PRICE = { name: 'price', amount: 'price.amount', currency: 'price.currency' };
const PRODUCTS = { path: '/v1/products' };
const filter = (field: string, operator: string, value: string): Filter => ({
  field,
  key: '',
  operator,
  value,
});
const STATE: ListState = {
  words: 'lamp',
  filters: [
    filter('brand', 'equals', 'A'),
    filter('price.amount', 'gte', '2000'),
    filter('price.amount', 'lt', '5000'),
  ],
  sort: 'name',
  limit: 20,
  cursor: 'c',
};

describe('the ranges of prices', () => {
  const limits = (lowest: number, highest: number) => {
    const ranges = priceRanges(lowest, highest);
    return [...ranges.map(({ from }) => from), ranges.at(-1)?.below];
  };

  it('has about eight ranges with round limits', () => {
    expect(limits(1_250, 8_990)).to.deep.equal([1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000]);
    expect(limits(100, 4_500).length).to.equal(6);
    expect(limits(7, 7)).to.deep.equal([7, 8]);
    expect(limits(0, 9)).to.deep.equal([0, 2, 4, 6, 8, 10]);
  });

  it('has ranges that grow if the prices differ much', () => {
    expect(limits(150, 9_000)).to.deep.equal([100, 200, 500, 1_000, 2_000, 5_000, 10_000]);
    expect(limits(0, 4_999)).to.deep.equal([0, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000]);
  });

  it('has every amount in exactly one range', () => {
    const amounts = [0, 1, 9, 10, 99, 4_990, 123_456, 10 ** 9, Number.MAX_SAFE_INTEGER];
    for (const [at, lowest] of amounts.entries())
      for (const highest of amounts.slice(at)) {
        const ranges = priceRanges(lowest, highest);
        const what = `${lowest} to ${highest}`;
        expect(ranges.length, what).to.be.within(1, 10);
        expect(ranges[0]?.from, what).to.satisfy((from: number) => from <= lowest && from >= 0);
        // No client sends a larger number.
        if (highest < Number.MAX_SAFE_INTEGER) expect(ranges.at(-1)?.below, what).to.be.above(highest);
        for (const [one, { from, below }] of ranges.entries()) {
          expect(below, what).to.be.above(from);
          if (one > 0) expect(from, what).to.equal(ranges[one - 1]?.below);
        }
      }
  });

  it('asks for the ends and the ranges of one currency, whatever amounts are chosen', () => {
    const shown = ofCurrency(STATE, PRICE, 'EUR');
    const text = (request: string) => decodeURIComponent(request);
    const common = '/v1/products?q=lamp&brand=A&price.currency=EUR';
    expect(text(firstRequest(PRODUCTS, { ...shown, sort: 'price.amount' }, 'price'))).to.equal(
      `${common}&sort=price.amount&limit=1&fields=price`,
    );
    const filters = filtersOfRange(shown, PRICE, 'EUR', { from: 1_000, below: 2_000 });
    expect(text(firstRequest(PRODUCTS, { ...shown, filters }, 'id'))).to.equal(
      `${common}&price.amount.gte=1000&price.amount.lt=2000&limit=1&fields=id`,
    );
  });

  it('chooses a range by filters, and none by none', () => {
    expect(chosenRange(STATE.filters, PRICE)).to.deep.equal({ from: 2_000, below: 5_000 });
    const range = { from: 100, below: 200 };
    const filters = filtersOfRange(STATE, PRICE, 'EUR', range);
    expect(filters).to.deep.equal([
      filter('brand', 'equals', 'A'),
      filter('price.currency', 'equals', 'EUR'),
      filter('price.amount', 'gte', '100'),
      filter('price.amount', 'lt', '200'),
    ]);
    expect(chosenRange(filters, PRICE)).to.deep.equal(range);
    const open = { from: 100, below: undefined };
    expect(filtersOfRange({ ...STATE, filters }, PRICE, 'EUR', open)).to.deep.equal(filters.slice(0, 3));
    expect(chosenRange(filters.slice(0, 3), PRICE)).to.deep.equal(open);
    const none = { from: undefined, below: undefined };
    expect(filtersOfRange({ ...STATE, filters }, PRICE, 'EUR', none)).to.deep.equal(filters.slice(0, 2));
    expect(chosenRange([filter('price.amount', 'gte', 'x'), filter('price.amount', 'ne', '1')], PRICE)).to.deep.equal(
      none,
    );
  });

  it('reach to a range that is ticked, and end at one that is not any more', () => {
    const none = { from: undefined, below: undefined };
    const range = (from: number, below = from + 10) => ({ from, below });
    for (const [chosen, toggled, result] of [
      [none, range(20), range(20)],
      [range(20), range(40), range(20, 50)],
      [range(20), range(10), range(10, 30)],
      [range(20, 50), range(20), range(30, 50)],
      [range(20, 50), range(30), range(20, 30)],
      [range(20), range(20), none],
      [{ from: 20, below: undefined }, range(10), { from: 10, below: undefined }],
      [{ from: undefined, below: 20 }, range(0), { from: 10, below: 20 }],
    ] as const)
      expect(toggledRange(chosen, toggled), `${chosen.from} ${toggled.from}`).to.deep.equal(result);
  });

  it('exist if lists can be sorted and limited by the amount, and counted by the currency', () => {
    const operators = (...names: string[]) => names.map((name) => ({ name }));
    const resource = {
      fields: [
        { name: 'price', sort: 'price.amount' },
        { name: 'name', sort: 'name' },
      ],
      filters: [{ name: 'price.amount', operators: operators('equals', 'gte', 'lt') }],
      facets: ['price.currency'],
    } as unknown as Resource;
    expect(pricesOf(resource)).to.deep.equal([PRICE]);
    expect(pricesOf({ ...resource, facets: [] })).to.deep.equal([]);
    expect(pricesOf({ ...resource, filters: [] })).to.deep.equal([]);
  });
});
