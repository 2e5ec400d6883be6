import { expect } from 'chai';
import fc from 'fast-check';
import { partitionPoint, TopN } from '#src/application/records/sorted.js';

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
