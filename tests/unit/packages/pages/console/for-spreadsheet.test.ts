import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { kindOf } from '#packages/pages/console/transfer/columns.js';
import { forSpreadsheet } from '#packages/pages/console/transfer/for-spreadsheet.js';
import { guarded, RowReader, sampleOf, unguarded } from '#packages/pages/console/transfer/reading.js';
import { PRODUCT_FIELDS } from './product-fields.js';

const kind = (column: string) => kindOf(column, PRODUCT_FIELDS);

const written = async (csv: string, decimalMark: '.' | ',' = ',') => {
  const options = { name: 'p.csv', decimalMark, map: 'attributes', kindOf: kind } as const;
  return (await forSpreadsheet(new File([csv], 'x.csv'), options)).text();
};

describe('an export for spreadsheets', () => {
  it('has a mark, the decimal mark of the country, and a column with a type for each attribute', async () => {
    const rows = [
      ['id', 'name', 'price.decimal', 'attributes', 'stock'],
      ['1', 'Größe; klein', '1299.90', '{"watts":7.5,"dim":true,"size":"10"}', '-4'],
      ['2', '-5 °C', '', '{"size":10,"a;b":"x"}', '12'],
      ['3', 'Lamp', '', '', ''],
    ];
    // Without the mark, which a decoder removes.
    expect(await written(stringify(rows))).to.equal(
      [
        'id;name;price.decimal;stock;"attributes[a;b]";attributes[dim]:boolean;attributes[size];attributes[watts]:number',
        '1;"Größe; klein";1299,90;-4;;true;"=""10""";7,5',
        '2;\'-5 °C;;12;x;;"=""10""";',
        '3;Lamp;;;;;;',
        '',
      ].join('\r\n'),
    );
    expect((await written(stringify(rows), '.')).split('\r\n')[1]).to.include('1299.90');
  });

  for (const text of ['=1+1', '@a', '-x', '\tx', "'=1", '="5"'])
    it(`has an apostrophe before ${JSON.stringify(text)}`, () => {
      expect(guarded(text)).to.equal(`'${text}`);
    });

  for (const text of ['00123', '4012345000016', '1E5', '1/2', '3-12', 'MAR1', '1. Mai', 'true', '10 %', '5 €', '12:30'])
    it(`has ${text} as a text that no program takes for a number or a date`, () => {
      expect(guarded(text)).to.equal(`="${text}"`);
    });

  for (const text of ['Lamp', 'Marlow', 'LAM-12', "it's", '30 cm', '½', 'a=b'])
    it(`has ${text} as it is`, () => {
      expect(guarded(text)).to.equal(text);
    });

  it('is read as the texts that were written, whatever they are', async () => {
    const text = fc.string({
      unit: fc.constantFrom('=', '+', '-', '@', '\t', '\n', 'a', '1', '"', ',', ';', "'", ' '),
    });
    await fc.assert(
      fc.asyncProperty(text, fc.constantFrom(',', '.'), async (name, mark) => {
        expect(unguarded(guarded(name))).to.equal(name);
        const csv = stringify([
          ['name', 'stock'],
          [name, '3'],
        ]);
        const file = new File([`\ufeff${await written(csv, mark as ',')}`], 'x.csv');
        const sample = await sampleOf(file, { separator: mark === ',' ? ';' : ',' });
        const reading = { ...sample, columns: ['name', 'stock'], currency: '' };
        const line = new TextEncoder().encode((await file.text()).split('\r\n')[1]);
        const row = new RowReader(reading, reading.columns, kind).read(line);
        expect(parse(row.text)).to.deep.equal([[name, '3']]);
      }),
    );
  });
});
