import { expect } from 'chai';
import fc from 'fast-check';
import { entriesOf, rangeEntries } from '#src/adapters/outbound/postgresql/attributes.js';

const NUMBER = fc.oneof(
  fc.double({ min: -(2 ** 53 - 1), max: 2 ** 53 - 1, noNaN: true }),
  fc.integer({ min: -300, max: 300 }).map((number) => number / 4),
  fc.constantFrom(0, -0, 5e-324, -5e-324, 2 ** -64, -(2 ** -64), 2 ** 53 - 1),
);
const BOUND = fc.oneof(NUMBER, fc.constantFrom(...[1e300, -1e300, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]));

const isFound = (number: number, low: number, high: number) => {
  const entries = entriesOf({ size: number });
  return rangeEntries('size', low, high).some((entry) => entries.includes(entry));
};

describe('the entries of attributes in PostgreSQL', () => {
  it('tell values of different types apart, and hash what is long', () => {
    expect(entriesOf({ a: '1', b: true })).to.deep.equal(['["a","1"]', ' a', '["b",true]', ' b']);
    expect(entriesOf({ a: 1 })).to.deep.equal(['["a",1]', ' a', 'c a', 'c0 a', 'c00 a', 'c000 a']);
    expect(entriesOf({ a: 'x'.repeat(200) })[0]).to.match(/^[\w+/]{43}=$/);
  });

  it('lead to every number of a range, and to none that is far from it', () => {
    fc.assert(
      fc.property(NUMBER, BOUND, BOUND, (number, one, other) => {
        const [low, high] = one < other ? [one, other] : [other, one];
        const margin = (bound: number) => Math.abs(bound) / 128 + 2 ** -63;
        if (number >= low && number <= high) expect(isFound(number, low, high)).to.equal(true);
        if (number < low - margin(low) || number > high + margin(high))
          expect(isFound(number, low, high)).to.equal(false);
      }),
    );
  });

  it('are few for any range', () => {
    fc.assert(
      fc.property(BOUND, BOUND, (one, other) => {
        const entries = rangeEntries('size', Math.min(one, other), Math.max(one, other));
        expect(entries.length).to.be.within(1, 106);
      }),
    );
    expect(rangeEntries('size', 2, 1)).to.deep.equal([]);
  });
});
