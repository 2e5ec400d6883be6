import { expect } from 'chai';
import { collectFile } from '#packages/pages/console/transfer/collect-file.js';

const FILE = { name: 'a.csv', type: 'text/csv' };

describe('a response that is collected in a file', () => {
  it('is the same, however large, and is counted meanwhile', async () => {
    const chunk = Buffer.alloc(3_000_000, 'x');
    const counts: number[] = [];
    const stream = new Blob([chunk, chunk, chunk, chunk, 'end']).stream();
    const file = await collectFile(stream, FILE, (bytes) => counts.push(bytes));
    expect([file.name, file.type, file.size]).to.deep.equal(['a.csv', 'text/csv', 12_000_003]);
    expect((await file.text()).endsWith('xend')).to.equal(true);
    expect(counts.at(-1)).to.equal(12_000_003);
    expect(counts).to.deep.equal([...counts].sort((a, b) => a - b));
  });

  it('is none if the response breaks off', async () => {
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(Buffer.from('part'));
        controller.error(new TypeError('network error'));
      },
    });
    const failure = await collectFile(stream, FILE, () => {}).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(TypeError);
  });
});
