import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { forExcel } from '#packages/pages/console/transfer/for-excel.js';

async function excel(csv: string, size: number): Promise<string> {
  const bytes = Buffer.from(csv);
  const chunks = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.subarray(at, at + size));
      controller.close();
    },
  });
  return Buffer.from(await new Response(forExcel(chunks)).arrayBuffer()).toString();
}

describe('CSV for Excel', () => {
  it('begins with a byte order mark, and has the same cells but for an apostrophe before formulas', async () => {
    const cell = fc.string({
      unit: fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', 'a', 'é', '"', ',', "'", ' '),
    });
    const rows = fc
      .integer({ min: 1, max: 4 })
      .chain((columns) => fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1 }));
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 9 }), fc.boolean(), async (all, size, quoted) => {
        const options = { quoted, quoted_empty: true, quoted_match: /[\r\n\t]/ };
        const text = await excel(stringify(all, options), size);
        expect(text[0]).to.equal('\ufeff');
        const guarded = all.map((cells) => cells.map((one) => (/^[=+\-@\t\r\n]/.test(one) ? `'${one}` : one)));
        expect(parse(text.slice(1), { record_delimiter: '\n' })).to.deep.equal(guarded);
      }),
    );
  });

  it('keeps the line ends of rows, and fails with the export', async () => {
    expect(await excel('a,b\r\n,\r\n=1,""\r\n', 3)).to.equal('\ufeffa,b\r\n,\r\n\'=1,""\r\n');
    const failing = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('cut')),
    });
    const failure = await new Response(forExcel(failing)).text().catch((error: unknown) => error);
    expect(failure).to.have.property('message', 'cut');
  });
});
