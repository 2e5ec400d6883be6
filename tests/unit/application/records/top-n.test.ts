import { expect } from 'chai';
import fc from 'fast-check';
import { TopN } from '#src/application/records/top-n.js';

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
