import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { type ImportLine, LineSplitter, readLines } from '#src/adapters/inbound/http/import/read-lines.js';

const LIMIT = 20;

function shown(line: ImportLine): [number, string | undefined] {
  return [line.number, 'bytes' in line ? line.bytes.toString('latin1') : undefined];
}

function split(pieces: readonly Buffer[]): [number, string | undefined][] {
  const splitter = new LineSplitter(LIMIT);
  return [...pieces.flatMap((piece) => [...splitter.push(piece)]), ...splitter.end()].map(shown);
}

describe('the lines of a request', () => {
  it('are what stands between line feeds, whatever the pieces that they come in', () => {
    const bytes = fc.array(fc.oneof(fc.constant(10), fc.constantFrom(0, 13, 97, 255)), { maxLength: 300 });
    const cuts = fc.array(fc.nat(300), { maxLength: 40 });
    fc.assert(
      fc.property(bytes, cuts, (bytes, cuts) => {
        const whole = Buffer.from(bytes);
        const places = [0, ...cuts.map((cut) => Math.min(cut, whole.length)), whole.length].toSorted(
          (a, b) => a - b,
        );
        const pieces = places.slice(1).map((end, at) => Buffer.from(whole.subarray(places[at], end)));
        const texts = whole.toString('latin1').split('\n');
        if (texts.at(-1) === '') texts.pop();
        const expected = texts.map((text, at) => [at + 1, text.length > LIMIT ? undefined : text]);
        expect(split(pieces)).to.deep.equal(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('are kept from their pieces: one that is used again changes none', () => {
    const splitter = new LineSplitter(LIMIT);
    const piece = Buffer.from('abc');
    expect([...splitter.push(piece)]).to.deep.equal([]);
    piece.fill('x');
    const [line] = [...splitter.push(Buffer.from('def\nrest'))];
    expect(line && shown(line)).to.deep.equal([1, 'abcdef']);
    [...splitter.push(Buffer.from('\nother text\n'))];
    expect(line && shown(line)).to.deep.equal([1, 'abcdef']);
  });

  it('come as soon as they are whole, up to 256 together', async () => {
    const request = new Readable({ read() {} });
    const batches = readLines(request, LIMIT);
    request.push('one\ntwo\nth');
    expect((await batches.next()).value?.map(shown)).to.deep.equal([
      [1, 'one'],
      [2, 'two'],
    ]);
    request.push('ree\n');
    expect((await batches.next()).value?.map(shown)).to.deep.equal([[3, 'three']]);
    request.push('x\n'.repeat(600));
    request.push(null);
    const sizes: number[] = [];
    for await (const batch of batches) sizes.push(batch.length);
    expect(sizes).to.deep.equal([256, 256, 88]);
  });

  it('gather while others are worked on, and are not read without bound', async () => {
    let made = 0;
    const request = new Readable({
      read() {
        made++;
        this.push(Buffer.from(`${'y'.repeat(15)}\n`.repeat(64)));
      },
    });
    const batches = readLines(request, LIMIT);
    await batches.next();
    for (let i = 0; i < 200; i++) await turn();
    const ahead = made;
    for (let i = 0; i < 200; i++) await turn();
    expect(made).to.equal(ahead);
    expect(ahead * 1_024).to.be.lessThan(1_000_000);
    expect((await batches.next()).value).to.have.length(256);
    request.destroy();
  });

  it('end with an error where the request breaks off, without the one that was under way', async () => {
    const request = new Readable({ read() {} });
    const seen: unknown[] = [];
    request.push('whole\nhalf');
    const reading = (async () => {
      for await (const batch of readLines(request, LIMIT)) {
        seen.push(...batch.map(shown));
        request.destroy();
      }
    })();
    expect(await reading.catch((error: unknown) => error)).to.include({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
    expect(seen).to.deep.equal([[1, 'whole']]);
  });
});
