import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { type Spool, SpoolFull } from '#src/adapters/inbound/http/imports/spool.js';
import { SpoolSegment } from '#src/adapters/inbound/http/imports/spool-segment.js';
import { Spools, type SpoolsOptions } from '#src/adapters/inbound/http/imports/spools.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('a spool', () => {
  const root = temporaryFolder();
  let runs = 0;
  let folder: string;
  beforeEach(() => {
    folder = join(root, `run-${++runs}`);
  });
  afterEach(async () => {
    while (open > 0) await turn();
    expect(existsSync(folder) ? readdirSync(folder) : []).to.deep.equal([]);
  });

  /** Files that were opened and not closed again. */
  let open = 0;
  const { open: openSegment } = SpoolSegment;
  const { close } = SpoolSegment.prototype;
  before(() => {
    SpoolSegment.open = async (folder) => {
      const segment = await openSegment.call(SpoolSegment, folder);
      open++;
      return segment;
    };
    SpoolSegment.prototype.close = async function (this: SpoolSegment) {
      await close.call(this);
      open--;
    };
  });
  after(() => {
    SpoolSegment.open = openSegment;
    SpoolSegment.prototype.close = close;
  });

  const make = (options: Partial<SpoolsOptions> = {}) =>
    new Spools({ folder, memoryBytes: 100, segmentBytes: 1_000, maxBytes: 100_000, ...options }).open('a');
  const text = (n: number) => `line ${n} ${'é'.repeat(n % 50)}\n`;
  const texts = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => text(from + at));

  async function all(spool: Spool): Promise<string> {
    const chunks: Buffer[] = [];
    for await (const chunk of spool.readable) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString();
  }

  it('gives what was written, in order, to who reads after the end', async () => {
    const spool = make();
    for (const line of texts(0, 1_000)) await spool.write(line);
    expect(open).to.be.greaterThan(5);
    spool.end();
    expect(await all(spool)).to.equal(texts(0, 1_000).join(''));
  });

  it('needs no file for what fits into the memory that it may use', async () => {
    const spool = make({ memoryBytes: 100_000 });
    for (const line of texts(0, 100)) await spool.write(line);
    expect([open, existsSync(folder)]).to.deep.equal([0, false]);
    spool.end();
    expect(await all(spool)).to.equal(texts(0, 100).join(''));
  });

  it('gives it while it is written, however fast either side is', async () => {
    for (const [writerPauses, readerPauses] of [
      [0, 0],
      [3, 0],
      [0, 3],
      [1, 2],
    ] as const) {
      const spool = make({ memoryBytes: 50, segmentBytes: 200 });
      const read = (async () => {
        let got = '';
        for await (const chunk of spool.readable) {
          got += String(chunk);
          for (let i = 0; i < readerPauses; i++) await turn();
        }
        return got;
      })();
      for (const line of texts(0, 300)) {
        await spool.write(line);
        for (let i = 0; i < writerPauses; i++) await turn();
      }
      spool.end();
      expect(await read).to.equal(texts(0, 300).join(''));
    }
  });

  it('lets go of what was read, though its reader never catches up', async () => {
    const spool = make({ maxBytes: 20_000 });
    const reader = spool.readable.iterator();
    let most = 0;
    for (let n = 0; n < 5_000; n++) {
      await spool.write('x'.repeat(100));
      if (n > 100) await reader.next();
      most = Math.max(most, open);
    }
    expect(most).to.be.within(5, 25);
    spool.readable.destroy();
  });

  it('refuses more than it may keep, counting what is unread alone', async () => {
    const spool = make({ maxBytes: 5_000 });
    for (let n = 0; n < 50; n++) await spool.write('x'.repeat(100));
    const refusal = await spool.write('x').catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(SpoolFull);
    spool.fail(refusal);
    expect(await all(spool).catch((error: unknown) => error)).to.equal(refusal);
  });

  it('never ends well after a failure, whatever was written before', async () => {
    const spool = make();
    const failure = new Error('broken');
    await spool.write('a whole line\n');
    spool.fail(failure);
    expect(await finished(spool.readable).catch((error: unknown) => error)).to.equal(failure);
  });

  it('tells the writer that nobody reads any more', async () => {
    const spool = make();
    for (const line of texts(0, 200)) await spool.write(line);
    spool.readable.destroy();
    const refusal = await spool.write('late').catch((error: unknown) => error);
    expect(refusal).to.include({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
  });

  it('may be abandoned in the middle of a write', async () => {
    for (let pauses = 0; pauses < 12; pauses++) {
      const spool = make({ memoryBytes: 0 });
      const writing = (async () => {
        for (const line of texts(0, 50)) await spool.write(line);
      })().catch((error: unknown) => error);
      for (let i = 0; i < pauses; i++) await turn();
      spool.readable.destroy();
      expect(await writing).to.include({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
    }
  });

  it('says so where no file can be made, and goes on from memory alone where none is needed', async () => {
    writeFileSync(`${root}/a file`, '');
    const spool = make({ folder: `${root}/a file/spool` });
    await spool.write('short');
    expect(await spool.write('x'.repeat(200)).catch((error: unknown) => error)).to.include({
      code: 'ENOTDIR',
    });
    spool.end();
    expect(await all(spool)).to.equal('short');
  });

  it('shares its room with others, and gives it back when it is done, read or abandoned', async () => {
    const spools = new Spools({ folder, memoryBytes: 100, maxTotalBytes: 1_000 });
    const [one, other] = [spools.open('a'), spools.open('b')];
    await one.write('x'.repeat(600));
    const tooMuch = () => other.write('x'.repeat(600)).catch((error: unknown) => error);
    expect(await tooMuch()).to.be.instanceOf(SpoolFull);
    one.end();
    expect(await all(one)).to.have.length(600);
    expect(await tooMuch()).to.equal(undefined);
    other.readable.destroy();
    await finished(other.readable).catch(() => {});
    const third = spools.open('a');
    await third.write('x'.repeat(1_000));
    third.readable.destroy();
  });

  it('leaves room to other clients, however many one client has', async () => {
    const spools = new Spools({ folder, memoryBytes: 100, maxClientBytes: 500, maxTotalBytes: 1_000 });
    const [one, two, other] = [spools.open('a'), spools.open('a'), spools.open('b')];
    await one.write('x'.repeat(400));
    expect(await two.write('x'.repeat(200)).catch((error: unknown) => error)).to.be.instanceOf(SpoolFull);
    await other.write('x'.repeat(500));
    for (const spool of [one, two, other]) spool.readable.destroy();
  });

  it('holds 256 MiB of an import that nobody reads, and no more, unless told otherwise', async () => {
    const spool = new Spools({ folder }).open('a');
    const mebibyte = 'x'.repeat(1_048_576);
    for (let written = 0; written < 256; written++) await spool.write(mebibyte);
    const refusal = await spool.write('x').catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(SpoolFull);
    spool.readable.destroy();
  });

  it('leaves its folder to its owner', async () => {
    const spool = make({ memoryBytes: 0 });
    await spool.write('secret');
    expect(statSync(folder).mode & 0o777).to.equal(0o700);
    spool.readable.destroy();
  });
});
