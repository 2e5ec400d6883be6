import { expect } from 'chai';
import { jsonArray, textChunks } from '#src/adapters/inbound/http/lists/lines.js';
import { turnsOfOthers } from '../../../../../support/turns.js';

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('textChunks and jsonArray', () => {
  it('write each item once, in order', async () => {
    for (const count of [0, 1, 99, 100, 101, 200, 1_234]) {
      let text = '';
      for await (const batch of textChunks(numbers(count), (n) => `${n}\n`)) text += batch;
      expect(text.split('\n'), `${count}`).to.deep.equal([...numbers(count).map(String), '']);
    }
  });

  it('yield to other work after about 100 items, and after few large ones', async () => {
    const write = (items: number, size: number) => () =>
      jsonArray(numbers(items), () => JSON.stringify('x'.repeat(size)));
    expect(await turnsOfOthers(write(1_000, 1))).to.be.at.least(9);
    expect(await turnsOfOthers(write(20, 70_000))).to.be.at.least(19);
  });

  it('write a short array at once', () => {
    expect(String(jsonArray(numbers(100), String))).to.equal(JSON.stringify(numbers(100)));
    expect(jsonArray(numbers(101), String)).to.be.instanceOf(Promise);
    expect(jsonArray(numbers(2), () => `"${'x'.repeat(70_000)}"`)).to.be.instanceOf(Promise);
  });

  it('write a JSON array of the presented items', async () => {
    for (const count of [0, 1, 2, 250]) {
      const bytes = await jsonArray(numbers(count), (n) => JSON.stringify({ n, name: '😀é' }));
      expect(bytes.toString('utf8')).to.equal(JSON.stringify(numbers(count).map((n) => ({ n, name: '😀é' }))));
    }
  });
});
