import { expect } from 'chai';
import { TextCache } from '#src/adapters/inbound/http/parameters/query.js';

function counting() {
  const computed: string[] = [];
  const compute = (text: string) => {
    computed.push(text);
    return text.length;
  };
  return { computed, compute };
}

describe('TextCache', () => {
  it('computes the result of a text once', () => {
    const { computed, compute } = counting();
    const cache = new TextCache<number>();
    expect([cache.get('ab', compute), cache.get('ab', compute), cache.get('', compute)]).to.deep.equal([2, 2, 0]);
    expect(computed).to.deep.equal(['ab', '']);
  });

  it('never holds more results than its limit', () => {
    const { computed, compute } = counting();
    const cache = new TextCache<number>(2);
    for (const text of ['a', 'b', 'c', 'a', 'b']) cache.get(text, compute);
    expect(computed).to.deep.equal(['a', 'b', 'c', 'a', 'b']);
    cache.get('b', compute);
    expect(computed).to.have.lengthOf(5);
  });

  it('does not hold long texts', () => {
    const { computed, compute } = counting();
    const cache = new TextCache<number>(10, 3);
    for (const text of ['abcd', 'abcd', 'abc', 'abc']) cache.get(text, compute);
    expect(computed).to.deep.equal(['abcd', 'abcd', 'abc']);
  });
});
