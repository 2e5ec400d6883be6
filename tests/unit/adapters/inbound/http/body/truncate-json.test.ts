import { expect } from 'chai';
import { truncateJson } from '#src/adapters/inbound/http/body/truncate-json.js';

describe('the first values of a document', () => {
  it('are all of them where they are few', () => {
    for (const document of [7, null, 'x', [], {}, { a: [1, { b: null }], c: {} }]) {
      expect(truncateJson(document, 7)).to.deep.equal({ value: document, isWhole: true });
    }
  });

  it('end where the count does', () => {
    expect(truncateJson([1, 2, 3, 4], 3)).to.deep.equal({ value: [1, 2], isWhole: false });
    expect(truncateJson({ a: { b: 1, c: 2 }, d: 3 }, 3)).to.deep.equal({
      value: { a: { b: 1 } },
      isWhole: false,
    });
  });

  it('leave nothing empty that was not', () => {
    expect(truncateJson([1, [2, 3], [4]], 3)).to.deep.equal({ value: [1, [2]], isWhole: false });
  });

  it('are found however many there are', () => {
    const { value, isWhole } = truncateJson({ list: Array(1_000_000).fill({}) }, 10);
    expect([(value as { list: unknown[] }).list.length, isWhole]).to.deep.equal([8, false]);
  });
});
