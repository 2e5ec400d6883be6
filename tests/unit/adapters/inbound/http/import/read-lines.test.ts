import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { readLines } from '#src/adapters/inbound/http/import/read-lines.js';
import { type ImportLine, LineSplitter } from '#src/shared/record-splitters.js';

const LIMIT = 20;

function numberAndText(line: ImportLine): [number, string | undefined] {
  return [line.number, 'bytes' in line ? Buffer.from(line.bytes).toString('latin1') : undefined];
}

function split(chunks: readonly Buffer[]): [number, string | undefined][] {
  const splitter = new LineSplitter(LIMIT);
  return [...chunks.flatMap((chunk) => [...splitter.push(chunk)]), ...splitter.end()].map(numberAndText);
}

describe('readLines and LineSplitter', () => {
  it('split at line feeds, independently of the chunks', () => {
    const bytes = fc.array(fc.oneof(fc.constant(10), fc.constantFrom(0, 13, 97, 255)), { maxLength: 300 });
    const cuts = fc.array(fc.nat(300), { maxLength: 40 });
    fc.assert(
      fc.property(bytes, cuts, (bytes, cuts) => {
        const whole = Buffer.from(bytes);
        const offsets = [0, ...cuts.map((cut) => Math.min(cut, whole.length)), whole.length].toSorted((a, b) => a - b);
        const chunks = offsets.slice(1).map((end, at) => Buffer.from(whole.subarray(offsets[at], end)));
        const texts = whole.toString('latin1').split('\n');
        if (texts.at(-1) === '') texts.pop();
        const expected = texts.map((text, at) => [at + 1, text.length > LIMIT ? undefined : text]);
        expect(split(chunks)).to.deep.equal(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('copy the bytes, so a chunk can be reused', () => {
    const splitter = new LineSplitter(LIMIT);
    const chunk = Buffer.from('abc');
    expect([...splitter.push(chunk)]).to.deep.equal([]);
    chunk.fill('x');
    const [line] = [...splitter.push(Buffer.from('def\nrest'))];
    expect(line && numberAndText(line)).to.deep.equal([1, 'abcdef']);
    [...splitter.push(Buffer.from('\nother text\n'))];
    expect(line && numberAndText(line)).to.deep.equal([1, 'abcdef']);
  });

  it('yield complete lines immediately, at most 256 together', async () => {
    const request = new Readable({ read() {} });
    const batches = readLines({ request }, new LineSplitter(LIMIT));
    request.push('one\ntwo\nth');
    expect((await batches.next()).value?.map(numberAndText)).to.deep.equal([
      [1, 'one'],
      [2, 'two'],
    ]);
    request.push('ree\n');
    expect((await batches.next()).value?.map(numberAndText)).to.deep.equal([[3, 'three']]);
    request.push('x\n'.repeat(600));
    request.push(null);
    const sizes: number[] = [];
    for await (const batch of batches) sizes.push(batch.length);
    expect(sizes).to.deep.equal([256, 256, 88]);
  });

  it('read ahead at most a limited number of lines', async () => {
    let chunksRead = 0;
    const request = new Readable({
      read() {
        chunksRead++;
        this.push(Buffer.from(`${'y'.repeat(15)}\n`.repeat(64)));
      },
    });
    const batches = readLines({ request }, new LineSplitter(LIMIT));
    await batches.next();
    for (let i = 0; i < 200; i++) await turn();
    const ahead = chunksRead;
    for (let i = 0; i < 200; i++) await turn();
    expect(chunksRead).to.equal(ahead);
    expect(ahead * 1_024).to.be.lessThan(1_000_000);
    expect((await batches.next()).value).to.have.length(256);
    request.destroy();
  });

  it('throw if the request is aborted, and drop the incomplete line', async () => {
    const request = new Readable({ read() {} });
    const seen: unknown[] = [];
    request.push('whole\nhalf');
    const reading = (async () => {
      for await (const batch of readLines({ request }, new LineSplitter(LIMIT))) {
        seen.push(...batch.map(numberAndText));
        request.destroy();
      }
    })();
    expect(await reading.catch((error: unknown) => error)).to.include({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
    expect(seen).to.deep.equal([[1, 'whole']]);
  });

  it('end a batch before 64 KiB, unless it is one line', async () => {
    const request = new Readable({ read() {} });
    const lines = [30_000, 30_000, 6_000, 70_000, 1].map((length) => `${'x'.repeat(length)}\n`);
    request.push(lines.join(''));
    request.push(null);
    const sizes: number[][] = [];
    for await (const batch of readLines({ request }, new LineSplitter(100_000)))
      sizes.push(batch.map((line) => ('bytes' in line ? line.bytes.length : 0)));
    expect(sizes.flat()).to.deep.equal([30_000, 30_000, 6_000, 70_000, 1]);
    for (const batch of sizes)
      if (batch.length > 1) expect(batch.reduce((sum, size) => sum + size)).to.be.at.most(65_536);
  });

  it('take memory for a long line in parts, give it back with the line, and go on without it', () => {
    let held = 0;
    const memory = {
      take: (bytes: number) => {
        if (held + bytes > 100_000) return 'all';
        held += bytes;
        return undefined;
      },
    };
    const splitter = new LineSplitter(1_000_000, memory);
    const push = (text: string) => [...splitter.push(Buffer.from(text))];
    push('x'.repeat(10_000));
    expect(held, 'a short line').to.equal(0);
    push('x'.repeat(40_000));
    expect(held).to.be.within(50_000, 100_000);
    expect(push('\nnext\n').map(numberAndText)).to.deep.equal([
      [1, 'x'.repeat(50_000)],
      [2, 'next'],
    ]);
    expect(held).to.equal(0);
    push('x'.repeat(90_000));
    push('x'.repeat(90_000));
    expect(held, 'a line without memory').to.equal(0);
    expect(push('x\nlast\n')).to.deep.equal([
      { number: 3, noRoom: true },
      { number: 4, bytes: Buffer.from('last') },
    ]);
  });
});
