import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import {
  BufferFull,
  type ResultBuffer,
  type ResultBufferOptions,
  ResultBuffers,
  SpoolFile,
} from '#src/adapters/inbound/http/import/result-buffer.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('ResultBuffer', () => {
  const root = temporaryFolder();
  let runs = 0;
  let folder: string;
  beforeEach(() => (folder = join(root, `run-${++runs}`)));
  afterEach(async () => {
    while (open > 0) await turn();
    expect(existsSync(folder) ? readdirSync(folder) : []).to.deep.equal([]);
  });

  /** The number of open files. */
  let open = 0;
  let lastFile: SpoolFile;
  const { open: openFile } = SpoolFile;
  const { close } = SpoolFile.prototype;
  before(() => {
    SpoolFile.open = async (folder) => {
      lastFile = await openFile.call(SpoolFile, folder);
      open++;
      return lastFile;
    };
    SpoolFile.prototype.close = async function (this: SpoolFile) {
      await close.call(this);
      open--;
    };
  });
  after(() => {
    SpoolFile.open = openFile;
    SpoolFile.prototype.close = close;
  });

  const make = (options: Partial<ResultBufferOptions> = {}) =>
    new ResultBuffers({ folder, memoryBytes: 100, maxBytes: 100_000, ...options }).open('a');
  const text = (n: number) => `line ${n} ${'é'.repeat(n % 50)}\n`;
  const texts = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => text(from + at));

  async function all(buffer: ResultBuffer): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of buffer.readable) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString();
  }

  it('returns the written text in order to a reader that starts after the end', async () => {
    const buffer = make();
    for (const line of texts(0, 1_000)) await buffer.write(line);
    expect(open).to.equal(1);
    buffer.end();
    expect(await all(buffer)).to.equal(texts(0, 1_000).join(''));
  });

  it('shows nothing before its writer ends, if its first byte is delayed', async () => {
    const buffer = make({ firstByteDelayMs: 1e9 });
    const read = all(buffer);
    let isRead = false;
    buffer.readable.once('data', () => (isRead = true));
    for (const line of texts(0, 1_000)) await buffer.write(line);
    for (let i = 0; i < 100; i++) await turn();
    expect(isRead).to.equal(false);
    buffer.end();
    expect(await read).to.equal(texts(0, 1_000).join(''));
  });

  it('shows what is written when its writer pauses, and from then on at once', async () => {
    const buffer = make({ firstByteDelayMs: 1 });
    const read = buffer.readable[Symbol.asyncIterator]();
    await buffer.write('first\n');
    expect(String((await read.next()).value)).to.equal('first\n');
    await buffer.write('second\n');
    expect(String((await read.next()).value)).to.equal('second\n');
    buffer.end();
    expect((await read.next()).done).to.equal(true);
  });

  it('uses no file if the text fits into its memory', async () => {
    const buffer = make({ memoryBytes: 100_000 });
    for (const line of texts(0, 100)) await buffer.write(line);
    expect([open, existsSync(folder)]).to.deep.equal([0, false]);
    buffer.end();
    expect(await all(buffer)).to.equal(texts(0, 100).join(''));
  });

  it('returns the text while it is written, at any speed of reader and writer', async () => {
    for (const [writerPauses, readerPauses] of [
      [0, 0],
      [3, 0],
      [0, 3],
      [1, 2],
    ] as const) {
      const buffer = make({ memoryBytes: 50 });
      const read = (async () => {
        let result = '';
        for await (const chunk of buffer.readable) {
          result += String(chunk);
          for (let i = 0; i < readerPauses; i++) await turn();
        }
        return result;
      })();
      for (const line of texts(0, 300)) {
        await buffer.write(line);
        for (let i = 0; i < writerPauses; i++) await turn();
      }
      buffer.end();
      expect(await read).to.equal(texts(0, 300).join(''));
    }
  });

  it('keeps its file short and its text whole, even if the reader never catches up', async () => {
    const buffer = make({ maxBytes: 700_000 });
    const reader = buffer.readable.iterator();
    const block = (n: number) => String(n % 10).repeat(10_000);
    let [read, most] = ['', 0];
    const readNext = async () => (read += String((await reader.next()).value));
    for (let n = 0; n < 500; n++) {
      await buffer.write(block(n));
      while (n > 60 && read.length < 10_000 * (n - 50)) await readNext();
      if (n % 10 === 9) most = Math.max(most, (await lastFile['file'].stat()).size);
    }
    expect(most).to.be.within(1_000_000, 2_500_000);
    buffer.end();
    for (let next = await reader.next(); !next.done; next = await reader.next()) read += String(next.value);
    expect(read).to.equal(Array.from({ length: 500 }, (_, n) => block(n)).join(''));
  });

  it('rejects text above its limit of unread bytes', async () => {
    const buffer = make({ maxBytes: 5_000 });
    for (let n = 0; n < 50; n++) await buffer.write('x'.repeat(100));
    const refusal = await buffer.write('x').catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(BufferFull);
    buffer.fail(refusal);
    expect(await all(buffer).catch((error: unknown) => error)).to.equal(refusal);
  });

  it('ends with the error after a failure', async () => {
    const buffer = make();
    const failure = new Error('broken');
    await buffer.write('a whole line\n');
    buffer.fail(failure);
    expect(await finished(buffer.readable).catch((error: unknown) => error)).to.equal(failure);
  });

  it('rejects writes after the reader has left', async () => {
    const buffer = make();
    for (const line of texts(0, 200)) await buffer.write(line);
    buffer.readable.destroy();
    const refusal = await buffer.write('late').catch((error: unknown) => error);
    expect(refusal).to.include({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
  });

  it('can be destroyed during a write', async () => {
    for (let pauses = 0; pauses < 12; pauses++) {
      const buffer = make({ memoryBytes: 0 });
      const writing = (async () => {
        for (const line of texts(0, 50)) await buffer.write(line);
      })().catch((error: unknown) => error);
      for (let i = 0; i < pauses; i++) await turn();
      buffer.readable.destroy();
      expect(await writing).to.include({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
    }
  });

  it('rejects a write that needs a file if none can be created, and keeps the text in memory', async () => {
    writeFileSync(`${root}/a file`, '');
    const buffer = make({ folder: `${root}/a file/buffer` });
    await buffer.write('short');
    expect(await buffer.write('x'.repeat(200)).catch((error: unknown) => error)).to.include({ code: 'ENOTDIR' });
    buffer.end();
    expect(await all(buffer)).to.equal('short');
  });

  it('shares a limit with other buffers, and releases its part after its end', async () => {
    const buffers = new ResultBuffers({ folder, memoryBytes: 100, maxTotalBytes: 1_000 });
    const [one, other] = [buffers.open('a'), buffers.open('b')];
    await one.write('x'.repeat(600));
    const tooMuch = () => other.write('x'.repeat(600)).catch((error: unknown) => error);
    expect(await tooMuch()).to.be.instanceOf(BufferFull);
    one.end();
    expect(await all(one)).to.have.length(600);
    expect(await tooMuch()).to.equal(undefined);
    other.readable.destroy();
    await finished(other.readable).catch(() => {});
    const third = buffers.open('a');
    await third.write('x'.repeat(1_000));
    third.readable.destroy();
  });

  it('limits all buffers of one client together', async () => {
    const buffers = new ResultBuffers({ folder, memoryBytes: 100, maxClientBytes: 500, maxTotalBytes: 1_000 });
    const [one, two, other] = [buffers.open('a'), buffers.open('a'), buffers.open('b')];
    await one.write('x'.repeat(400));
    expect(await two.write('x'.repeat(200)).catch((error: unknown) => error)).to.be.instanceOf(BufferFull);
    await other.write('x'.repeat(500));
    for (const buffer of [one, two, other]) buffer.readable.destroy();
  });

  it('holds at most 256 MiB of unread text by default', async () => {
    const buffer = new ResultBuffers({ folder }).open('a');
    const mebibyte = 'x'.repeat(1_048_576);
    for (let written = 0; written < 256; written++) await buffer.write(mebibyte);
    const refusal = await buffer.write('x').catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(BufferFull);
    buffer.readable.destroy();
  });

  it('makes its folder accessible only to its owner', async () => {
    const buffer = make({ memoryBytes: 0 });
    await buffer.write('secret');
    expect(statSync(folder).mode & 0o777).to.equal(0o700);
    buffer.readable.destroy();
  });
});
