import { expect } from 'chai';
import fc from 'fast-check';
import { NoPrice, previewOf } from '#packages/pages/console/transfer/preview.js';
import { cellsOf } from '#src/shared/record-splitters.js';
import { plainRows } from './product-fields.js';

type Format = 'csv' | 'ndjson';
const preview = async (file: string, format: Format = 'csv') => {
  const rows = format === 'csv' ? plainRows(/[^\ufeff\r\n]*/.exec(file.replace('\ufeff', ''))?.[0] ?? '') : undefined;
  return (await previewOf(new File([file], 'x'), rows)).map(({ values, text }) => values ?? text);
};
/** What the preview shows as the price of the first record. */
const priceIn = async (file: string, format?: Format) =>
  (((await preview(file, format))[0] ?? {}) as Record<string, unknown>)['price'];

describe('the preview of a file', () => {
  for (const [amount, price] of [
    ['25', { amount: 25, currency: 'EUR' }],
    ['25.00', new NoPrice('25.00 EUR', false)],
    ['"24,99"', new NoPrice('24,99 EUR', false)],
    ['1e2', new NoPrice('1e2 EUR', false)],
    ['012', new NoPrice('012 EUR', false)],
    ['9007199254740993', new NoPrice('9007199254740993 EUR', false)],
  ] as const)
    it(`takes ${amount} in the column price.amount in the smallest unit, or not at all`, async () => {
      expect(await priceIn(`name,price.amount,price.currency\nLamp,${amount},EUR\n`)).to.deep.equal(price);
    });

  for (const [decimal, currency, price] of [
    ['25', 'EUR', { amount: 2500, currency: 'EUR' }],
    ['24.9', 'EUR', { amount: 2490, currency: 'EUR' }],
    ['34.0000', 'EUR', { amount: 3400, currency: 'EUR' }],
    ['1.005', 'KWD', { amount: 1005, currency: 'KWD' }],
    ['24.999', 'EUR', new NoPrice('24.999 EUR', false)],
    ['24.9', 'JPY', new NoPrice('24.9 JPY', false)],
    ['24.9', '', new NoPrice('24.9', true)],
  ] as const)
    it(`takes ${decimal} ${currency} in the column price.decimal in the major unit, or not at all`, async () => {
      expect(await priceIn(`price.currency,price.decimal\n${currency},${decimal}\n`)).to.deep.equal(price);
    });

  it('takes an attribute with the name of an amount as it is', async () => {
    const file = 'attributes.amount,price.amount\n2.5,\n';
    expect(await preview(file)).to.deep.equal([{ 'attributes.amount': '2.5' }]);
  });

  it('has the prices of NDJSON', async () => {
    const lines = [
      '{"name":"Lamp","price":{"amount":25,"currency":"EUR"}}',
      '{"price":{"amount":24.99,"currency":"EUR"}}',
      '{"price":{"amount":-1,"currency":"EUR"}}',
      '{"price":25,"attributes":{"amount":2.5}}',
      '[1]',
    ];
    expect(await preview(`\ufeff${lines.join('\n')}`, 'ndjson')).to.deep.equal([
      { name: 'Lamp', price: { amount: 25, currency: 'EUR' } },
      { price: new NoPrice('{"amount":24.99,"currency":"EUR"}', false) },
      { price: new NoPrice('{"amount":-1,"currency":"EUR"}', false) },
      { price: new NoPrice('25', false), attributes: { amount: 2.5 } },
      '[1]',
    ]);
  });

  it('has the first five records, and shows the text of what is none', async () => {
    const rows = Array.from({ length: 8 }, (_, at) => `Lamp ${at},`).join('\r\n');
    expect(await preview(`\ufeffname,sku\r\n"a,b",S-1\r\nshort\r\n\r\n${rows}`)).to.deep.equal([
      { name: 'a,b', sku: 'S-1' },
      'short',
      { name: 'Lamp 0' },
      { name: 'Lamp 1' },
      { name: 'Lamp 2' },
    ]);
    expect(await preview('name\n"not closed')).to.deep.equal(['"not closed']);
    expect(await preview('')).to.deep.equal([]);
  });

  it('leaves out a record that goes beyond the beginning that it reads', async () => {
    const long = 'x'.repeat(1_000_000);
    expect(await preview(`name,sku\na,1\n"${long}",2\n`)).to.deep.equal([{ name: 'a', sku: '1' }]);
    expect(await preview(`{"name":"a"}\n{"name":"${long}"}`, 'ndjson')).to.deep.equal([{ name: 'a' }]);
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
