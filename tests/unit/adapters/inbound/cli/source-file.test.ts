import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  type Format,
  firstLine,
  formatOf,
  SourceFile,
  type SourceRecord,
} from '#src/adapters/inbound/cli/import/source-file.js';
import { temporaryFolder } from '../../../../support/temporary-folder.js';

describe('a file of records', () => {
  const folder = temporaryFolder();

  /** The header row, and each record with its number and the line of the file where it begins. */
  async function read(content: string, format: Format) {
    const path = join(folder, 'records');
    writeFileSync(path, content);
    const source = await SourceFile.open(path, format, () => {});
    const text = (record: SourceRecord) => ('bytes' in record ? Buffer.from(record.bytes).toString() : 'too long');
    const records: [number, number, string][] = [];
    for await (const record of source.records()) records.push([record.number, firstLine(record), text(record)]);
    expect(await buffer(source.bytes())).to.deep.equal(Buffer.from(content));
    expect([source.position, source.size]).to.deep.equal([Buffer.byteLength(content), source.position]);
    await source.close();
    return { header: source.header && text(source.header), records };
  }

  it('has records with their numbers and lines', async () => {
    expect(await read('{"a":1}\n\n \n{}\r\n{"b":2}', 'ndjson')).to.deep.equal({
      header: undefined,
      records: [
        [1, 1, '{"a":1}'],
        [2, 4, '{}\r'],
        [3, 5, '{"b":2}'],
      ],
    });
    expect(await read('\ufeffsep=,\n"na\nme",x\n,\n"two\n\nlines",y\nlast,', 'csv')).to.deep.equal({
      header: '"na\nme",x',
      records: [
        [1, 5, '"two\n\nlines",y'],
        [2, 8, 'last,'],
      ],
    });
    for (const format of ['csv', 'ndjson'] as const)
      expect(await read('', format)).to.deep.equal({ header: undefined, records: [] });
  });

  it('has each record where it stands, also in a file of many pieces', async () => {
    const cell = fc.constantFrom('a', '"b\nc"', '"d""\n\n"', 'é'.repeat(40_000), '');
    const lines = fc.array(fc.oneof(cell, fc.constant('\r\n'), fc.constant('\n')), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(lines, async (parts) => {
        const content = `name\n${parts.join('')}`;
        const { records } = await read(content, 'csv');
        const all = content.split('\n');
        for (const [index, [number, line, text]] of records.entries()) {
          expect(number).to.equal(index + 1);
          expect(
            all
              .slice(line - 1)
              .join('\n')
              .startsWith(text),
          ).to.equal(true);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('has a record that is too long to be kept, and those behind it', async () => {
    const { records } = await read(`{}\n"${'x'.repeat(17 * 2 ** 20)}"\n{}\n`, 'ndjson');
    expect(records).to.deep.equal([
      [1, 1, '{}'],
      [2, 2, 'too long'],
      [3, 3, '{}'],
    ]);
  });

  it('has a format by its name', () => {
    const names = ['a.csv', 'A.CSV', 'a.ndjson', 'a.jsonl', 'a.json', 'csv', '-', 'a.csv.gz'];
    expect(names.map(formatOf)).to.deep.equal([
      ...['csv', 'csv', 'ndjson', 'ndjson'],
      ...[undefined, undefined, undefined, undefined],
    ]);
  });
});
