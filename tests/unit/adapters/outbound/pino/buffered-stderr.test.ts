import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { BufferedStderr } from '#src/adapters/outbound/pino/logger.js';
import { temporaryFolder } from '../../../../support/temporary-folder.js';
import { until } from '../../../../support/until.js';

/** Lines of many lengths, some of several bytes a character and some longer than a piece. */
const LINES = Array.from({ length: 5_000 }, (_, i) => {
  return `${i} ${(i % 3 === 0 ? 'é' : 'x').repeat(i % 500 === 7 ? 80_000 : i % 700)}\n`;
});

describe('BufferedStderr', () => {
  const folder = temporaryFolder();
  let descriptor: number;
  let file: string;

  beforeEach(() => {
    file = join(folder, 'log');
    descriptor = openSync(file, 'w');
  });
  afterEach(() => closeSync(descriptor));

  it('writes every line once and in order, whether flushed or not', async () => {
    const stderr = new BufferedStderr(descriptor, () => 0);
    for (const [i, line] of LINES.entries()) {
      stderr.write(line);
      if (i === 2_000) await stderr.flush();
    }
    await stderr.flush();
    expect(readFileSync(file, 'utf8') === LINES.join('')).to.equal(true);
    stderr.write('last\n');
    await until('the last line is written', () => readFileSync(file, 'utf8').endsWith('last\n'));
  });

  it('loses lines only beyond 16 MiB', async () => {
    const stderr = new BufferedStderr(descriptor, () => 0);
    const line = `${'x'.repeat(1023)}\n`;
    for (let i = 0; i < 17 * 1024; i++) stderr.write(line);
    await stderr.flush();
    expect(readFileSync(file)).to.have.length(16 * 1024 * 1024);
    stderr.write('later\n');
    await stderr.flush();
    expect(readFileSync(file, 'utf8').endsWith('later\n')).to.equal(true);
  });

  describe('on a pipe', () => {
    const TEXT = LINES.slice(0, 400).join('');
    const pipe = () => join(folder, 'pipe');
    let reader: number;
    let elapsed: number;
    let readings: number;
    before(() => execFileSync('mkfifo', [pipe()]));
    beforeEach(() => {
      reader = openSync(pipe(), constants.O_RDONLY | constants.O_NONBLOCK);
      elapsed = 0;
      readings = 0;
    });
    afterEach(() => closeSync(reader));

    /** Writes more than the pipe holds. @returns a flush, which has looked at the clock since it was set to `now` */
    const flushUntil = async (limitMs: number, now: number) => {
      const writer = openSync(pipe(), constants.O_WRONLY | constants.O_NONBLOCK);
      const stderr = new BufferedStderr(writer, () => {
        readings++;
        return elapsed;
      });
      stderr.write(TEXT);
      const flush = { isOver: false, stderr, writer };
      void stderr.flush(limitMs).then(() => (flush.isOver = true));
      elapsed = now;
      const before = readings;
      await until('the flush looks at the clock', () => flush.isOver || readings > before + 1);
      return flush;
    };
    const readAvailable = (): string => {
      const bytes = Buffer.alloc(64 * 1_024);
      try {
        return bytes.toString('latin1', 0, readSync(reader, bytes));
      } catch {
        return '';
      }
    };
    /** Reads until everything is there. */
    const readAll = async (): Promise<string> => {
      let text = '';
      await until('everything is read', () => {
        text += readAvailable();
        return text.length === Buffer.byteLength(TEXT);
      });
      return Buffer.from(text, 'latin1').toString();
    };

    for (const [limitMs, waitsFor] of [
      [20_000, 19_999],
      [0, 1_999],
    ] as const)
      it(`waits ${waitsFor} ms for a reader if a flush has ${limitMs} ms`, async () => {
        const flush = await flushUntil(limitMs, waitsFor);
        expect(flush.isOver).to.equal(false);
        expect((await readAll()) === TEXT).to.equal(true);
        await until('the flush is over', () => flush.isOver);
        closeSync(flush.writer);
      });

    it('ends a flush at its limit if the reader takes nothing, and still writes later', async () => {
      const flush = await flushUntil(20_000, 20_000);
      expect(flush.isOver).to.equal(true);
      expect((await readAll()) === TEXT).to.equal(true);
      closeSync(flush.writer);
    });
  });
});
