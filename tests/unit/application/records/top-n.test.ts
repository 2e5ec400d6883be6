import { expect } from 'chai';
import fc from 'fast-check';
import { StoredRecord } from '#src/application/records/record-json.js';
import { partitionPoint, TopN, takePage } from '#src/application/records/top-n.js';

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

describe('partitionPoint', () => {
  it('is the number of items that come first', () => {
    for (const length of [0, 1, 2, 7, 8])
      for (let first = 0; first <= length; first++)
        expect(
          partitionPoint(
            Array.from({ length }, (_, i) => i),
            (item) => item < first,
          ),
        ).to.equal(first);
  });

  it('looks at the last item first, so that appending is quick', () => {
    const seen: number[] = [];
    partitionPoint([1, 2, 3, 4], (item) => seen.push(item) > 0);
    expect(seen).to.deep.equal([4]);
  });
});
