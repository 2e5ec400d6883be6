import { expect } from 'chai';
import { truncateJson } from '#src/adapters/inbound/http/body/truncate-json.js';

describe('truncateJson', () => {
  it('returns a small document whole', () => {
    for (const document of [7, null, 'x', [], {}, { a: [1, { b: null }], c: {} }]) {
      expect(truncateJson(document, 7)).to.deep.equal({ value: document, isWhole: true });
    }
  });

  it('stops at the limit', () => {
    expect(truncateJson([1, 2, 3, 4], 3)).to.deep.equal({ value: [1, 2], isWhole: false });
    expect(truncateJson({ a: { b: 1, c: 2 }, d: 3 }, 3)).to.deep.equal({
      value: { a: { b: 1 } },
      isWhole: false,
    });
  });

  it('drops an object or array that would be left empty', () => {
    expect(truncateJson([1, [2, 3], [4]], 3)).to.deep.equal({ value: [1, [2]], isWhole: false });
  });

  it('handles a very large document', () => {
    const { value, isWhole } = truncateJson({ list: Array(1_000_000).fill({}) }, 10);
    expect([(value as { list: unknown[] }).list.length, isWhole]).to.deep.equal([8, false]);
  });
});
