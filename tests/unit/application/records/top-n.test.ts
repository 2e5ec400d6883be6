import { expect } from 'chai';
import fc from 'fast-check';
import { TopN } from '#src/application/records/top-n.js';

describe('the top N', () => {
  it('are those that a sort of all would put in front, ties in the order in which they came', () => {
    const items = fc.array(fc.record({ key: fc.nat(9), came: fc.nat() }));
    fc.assert(
      fc.property(items, fc.integer({ min: 1, max: 12 }), (all, count) => {
        const byKey = (a: { key: number }, b: { key: number }) => a.key - b.key;
        const few = new TopN(count, byKey);
        for (const item of all) few.add(item);
        expect(few.inOrder()).to.deep.equal(all.toSorted(byKey).slice(0, count));
      }),
      { numRuns: 300 },
    );
  });
});
