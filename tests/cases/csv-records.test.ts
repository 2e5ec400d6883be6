import { Readable } from 'node:stream';
import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { csvImport } from '#src/adapters/inbound/http/import/csv-records.js';
import { columnsOf } from '#src/adapters/inbound/http/lists/csv.js';
import { PRODUCTS } from '#src/adapters/inbound/http/resources/definitions.js';
import { CsvSplitter } from '#src/shared/record-splitters.js';

const LIMIT = 1_048_576;
const FORMAT = csvImport(columnsOf(PRODUCTS));
const HEADER = 'name,description\n';

/** Imports chunks of any size. @returns the body of each record, or the message of its error */
async function read(chunks: Iterable<Buffer>): Promise<unknown[]> {
  const { batches, parse } = await FORMAT.open({ request: Readable.from(chunks) }, LIMIT);
  const results: unknown[] = [];
  for await (const batch of batches)
    for (const line of batch) {
      expect(line.number).to.equal(results.length + 1);
      try {
        results.push('bytes' in line ? parse(line).body : 'too long');
      } catch (error) {
        results.push((error as Error).message);
      }
    }
  return results;
}

function* chunksOf(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  let start = 0;
  for (let at = 0; start < bytes.length; at++) {
    const end = start + (sizes[at % sizes.length] ?? bytes.length);
    yield bytes.subarray(start, end);
    start = end;
  }
}

const anySizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
/** Everything that matters to the syntax, mixed. */
const anySyntax = fc
  .array(fc.constantFrom('a', 'é', '"', '""', ',', '\n', '\r\n', '"\n"', ',"', '",', '\u{1f600}'), { maxLength: 30 })
  .map((parts) => parts.join(''));

describe('the records of CSV', () => {
  it('are those of csv-parse, wherever that accepts the text', async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(anySyntax, anySizes, async (text, sizes) => {
        const body = Buffer.from(HEADER + text);
        const results = await read(chunksOf(body, sizes));
        let rows: (string | undefined)[][];
        try {
          rows = parse(body, {
            record_delimiter: ['\r\n', '\n'],
            skip_empty_lines: true,
            relax_column_count: true,
            from: 2,
            cast: (cell, { quoting }) => (cell === '' && !quoting ? undefined : cell),
          }).filter((cells: (string | undefined)[]) => cells.some((cell) => cell !== undefined));
        } catch {
          // At least one record is malformed, and none is lost: the last one is at the end of the text.
          expect(results.some((result) => typeof result === 'string')).to.equal(true);
          return;
        }
        accepted++;
        expect(results).to.have.length(rows.length);
        rows.forEach((cells, at) => {
          if (cells.length !== 2) expect(results[at]).to.match(/^The record has (?:1|more than 2) cells?/);
          else {
            const { name = '', description = '' } = results[at] as Record<string, string>;
            expect([name, description]).to.deep.equal(cells.map((cell = '') => cell));
          }
        });
      }),
      { numRuns: 1_000 },
    );
    expect(accepted).to.be.above(100);
  });

  it('do not depend on the chunks in which they arrive', async () => {
    await fc.assert(
      fc.asyncProperty(anySyntax, anySizes, fc.constantFrom('', 'sep=;\r\n', ',\n'), async (text, sizes, head) => {
        const body = Buffer.from(`\ufeff${head}${HEADER}${text}`);
        expect(await read(chunksOf(body, sizes))).to.deep.equal(await read([body]));
      }),
    );
  });

  it('tell an empty text from no value, and skip records without any', async () => {
    expect(await read([Buffer.from(`,\n${HEADER},""\n"",\n,\n,,,\n"",""\n,\r\n,`)])).to.deep.equal([
      { description: '' },
      { name: '' },
      { name: '', description: '' },
    ]);
  });

  it('may have cells of the maximum size, also of quotation marks alone', async () => {
    for (const cell of ['x'.repeat(LIMIT - 3), '""'.repeat((LIMIT - 4) / 2)]) {
      const [body] = await read([Buffer.from(`${HEADER},"${cell.slice(0, LIMIT - 4)}"`)]);
      expect((body as { description: string }).description.length).to.be.above(LIMIT / 3);
    }
  });

  it('are not kept in memory beyond the limit', () => {
    const splitter = new CsvSplitter(10);
    const lines = [...splitter.push(Buffer.from('name\n"'))];
    for (let at = 0; at < 1_000; at++) lines.push(...splitter.push(Buffer.from('"",\n'.repeat(1_000))));
    lines.push(...splitter.push(Buffer.from('"\nx')), ...splitter.end());
    const [name, x] = [Buffer.from('name'), Buffer.from('x')];
    expect(lines).to.deep.equal([
      { number: 0, bytes: name },
      { number: 1, tooLong: true },
      { number: 2, bytes: x },
    ]);
  });

  it('may have 10,000 columns, and no more', async () => {
    const header = (count: number) =>
      ['name', ...Array.from({ length: count - 1 }, (_, at) => `attributes.${at}`)].join(',');
    const wide = `${header(10_000)}\nx,${','.repeat(9_998)}last\n`;
    expect(await read([Buffer.from(wide)])).to.deep.equal([{ name: 'x', attributes: { 9998: 'last' } }]);
    for (const count of [10_001, 60_000]) {
      const refusal = await read([Buffer.from(`${header(count)}\n`)]).catch((error) => error);
      expect(refusal.code).to.equal('payload_too_large');
      expect(refusal.message).to.equal('The header row has more than 10000 columns.');
    }
    const refusal = await read([Buffer.from(`${'x'.repeat(LIMIT + 1)}\n`)]).catch((error) => error);
    expect(refusal.code).to.equal('payload_too_large');
  });
});
