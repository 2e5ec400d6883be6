import { expect } from 'chai';
import fc from 'fast-check';
import { previewOf } from '#packages/pages/console/transfer/use-file.js';
import { cellsOf } from '#src/shared/record-splitters.js';
import { PRODUCT_FIELDS, plainRows } from './product-fields.js';

/** The first records of a file: CSV, unless it has braces. */
const preview = async (file: string) => {
  const text = file.replace('\ufeff', '');
  const rows = /^[{[]/.test(text) ? undefined : plainRows(/[^\r\n]*/.exec(text)?.[0] ?? '');
  return (await previewOf(new File([file], 'x'), PRODUCT_FIELDS, rows)).map(({ values, text }) => values ?? text);
};
/** What it shows as the price of the first record. */
const priceIn = async (file: string) => Object((await preview(file))[0]).price;

describe('the preview of a file', () => {
  for (const [amount, read] of [
    ['25', 25],
    ['25.00', '25.00'],
    ['"24,99"', '24,99'],
    ['1e2', '1e2'],
    ['012', '012'],
    ['9007199254740993', '9007199254740993'],
  ] as const)
    it(`takes ${amount} in the column price.amount in the smallest unit, or as a text that is no amount`, async () => {
      const price = await priceIn(`name,price.amount,price.currency\nLamp,${amount},EUR\n`);
      expect(price).to.deep.equal({ amount: read, currency: 'EUR' });
    });

  for (const [decimal, currency, amount] of [
    ['25', 'EUR', 2500],
    ['24.9', 'EUR', 2490],
    ['34.0000', 'EUR', 3400],
    ['1.005', 'KWD', 1005],
    ['24.999', 'EUR', '24.999'],
    ['24.9', 'JPY', '24.9'],
    ['24.9', '', '24.9'],
  ] as const)
    it(`takes ${decimal} ${currency} in the column price.decimal in the major unit, or as a text`, async () => {
      const price = { amount, ...(currency !== '' && { currency }) };
      expect(await priceIn(`price.currency,price.decimal\n${currency},${decimal}\n`)).to.deep.equal(price);
    });

  it('takes an attribute with the name of an amount as it is', async () => {
    expect(await preview('attributes.amount,price.amount\n2.5,\n')).to.deep.equal([{ attributes: { amount: '2.5' } }]);
  });

  it('has the members of NDJSON', async () => {
    const lines = ['{"price":{"amount":24.99,"currency":"EUR"}}', '{"price":25,"attributes":{"amount":2.5}}', '[1]'];
    expect(await preview(`\ufeff${lines.join('\n')}`)).to.deep.equal([
      { price: { amount: 24.99, currency: 'EUR' } },
      { price: 25, attributes: { amount: 2.5 } },
      '[1]',
    ]);
  });

  it('has the first hundred records, and shows the text of what is none', async () => {
    const rows = Array.from({ length: 120 }, (_, at) => `Lamp ${at},`).join('\r\n');
    const [first, second, ...others] = await preview(`\ufeffname,sku\r\n"a,b",S-1\r\nshort\r\n\r\n${rows}`);
    expect([first, second]).to.deep.equal([{ name: 'a,b', sku: 'S-1' }, 'short']);
    expect([others.length, others.at(-1)]).to.deep.equal([98, { name: 'Lamp 97' }]);
    expect(await preview('name\n"not closed')).to.deep.equal(['"not closed']);
    expect(await preview('')).to.deep.equal([]);
  });

  it('leaves out a record that goes beyond the beginning that it reads', async () => {
    const long = 'x'.repeat(1_000_000);
    expect(await preview(`name,sku\na,1\n"${long}",2\n`)).to.deep.equal([{ name: 'a', sku: '1' }]);
    expect(await preview(`{"name":"a"}\n{"name":"${long}"}`)).to.deep.equal([{ name: 'a' }]);
  });
});

describe('the cells of a record of CSV', () => {
  const written = (cell: string | undefined) =>
    cell === '' || /[",\r\n]/.test(cell ?? '') ? `"${cell?.replaceAll('"', '""')}"` : cell;

  it('are those that were written, and an empty one without quotes is none', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '"', ',', '\r', '\n', ' ', 'é') });
    const cells = fc.array(fc.option(text, { nil: undefined }), { minLength: 1 });
    fc.assert(
      fc.property(cells, (all) => {
        expect(cellsOf(all.map(written).join(','))).to.deep.equal(all);
      }),
    );
  });

  for (const text of ['"a', 'a"b', '"a"b', '"a""', 'a\rb', 'a,"b" '])
    it(`are none in ${JSON.stringify(text)}`, () => {
      expect(cellsOf(text)).to.equal(undefined);
    });
});
