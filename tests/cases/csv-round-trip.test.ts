import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { inProcessService } from '../support/in-process-service.js';
import { sized } from '../support/run-settings.js';
import { CHARACTER } from '../support/unicode-texts.js';

const DETAILS = 'status,tags,images,url,brand,gtin,group,stock';
const FIELDS = `name,description,sku,price.amount,price.currency,attributes,${DETAILS}`;
const IN_MAJOR_UNIT = `${DETAILS},sku,price.decimal,attributes,price.currency,description,name`;

/** Text that products may have, mixed with everything that means something to CSV or to a spreadsheet. */
const textOf = (more: readonly string[], maxLength: number) =>
  fc
    .array(
      fc.oneof(
        fc.constantFrom(
          '"',
          '""',
          ',',
          ';',
          '=1+1',
          '@',
          '-',
          "'",
          ' ',
          '\ufeff',
          '\u2028',
          '\u0085',
          'é',
          '😀',
          ...more,
        ),
        fc.string({ unit: CHARACTER, maxLength: 3 }),
      ),
      { maxLength },
    )
    .map((parts) => parts.join(''))
    .filter((text) => ![...text].some((character) => /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(character)))
    .filter((text) => more.length > 0 || !/[\t\r\n]/.test(text));

const line = textOf([], 8);
const value = fc.oneof(line, fc.boolean(), fc.maxSafeInteger(), fc.double({ noNaN: true, min: -1e15, max: 1e15 }));
const product = fc.record(
  {
    name: line.map((text) => `n${text}`),
    description: textOf(['\r', '\n', '\r\n', '\t', '",\r\n"'], 12),
    price: fc.record({
      amount: fc.maxSafeNat(),
      currency: fc.constantFrom('EUR', 'USD', 'JPY', 'KWD', 'CLF', 'XYZ'),
    }),
    attributes: fc.dictionary(
      line.filter((key) => key !== '' && key !== '__proto__'),
      value,
      { minKeys: 1, maxKeys: 5 },
    ),
    status: fc.constantFrom('draft', 'archived'),
    tags: fc.uniqueArray(
      // Without the white space around it, which a new record does not take from a cell.
      line.map((text) => `t${text.replaceAll(/[,|]/g, '/')}t`),
      { minLength: 1, maxLength: 5 },
    ),
    images: fc.uniqueArray(
      fc.record(
        { url: fc.integer({ min: 1, max: 9 }).map((number) => `https://a/?b=${number},c;'`), alt: line },
        { requiredKeys: ['url'] },
      ),
      { minLength: 1, maxLength: 5, selector: ({ url }) => url },
    ),
    url: fc.constantFrom('https://a', 'HTTP://a/,'),
    brand: line.map((text) => `b${text}`),
    gtin: fc.constantFrom('00000000', '4006381333931'),
    group: fc.constantFrom('-1', '1e2', '.'),
    stock: fc.maxSafeNat(),
  },
  { requiredKeys: ['name'] },
);

describe('products that are exported and imported again', () => {
  const from = inProcessService();
  const to = inProcessService();
  const another = inProcessService();
  let imported = 0;

  const exported = async ({ client }: typeof from, accept: string, after: number, fields = FIELDS) =>
    (await client.get(`/v1/products?id.gt=${after}&fields=${fields}`, { headers: { Accept: accept } })).text;
  const importInto = async ({ client }: typeof from, type: string, body: string) => {
    const { text } = await client.post('/v1/products/imports', body, { headers: { 'Content-Type': type } });
    const ids = [...text.matchAll(/"status":201,"id":(\d+)/g)].map(([, id]) => Number(id));
    expect(ids, text).to.have.length(text.split('\n').length - 1);
    return (ids[0] ?? 1) - 1;
  };
  it('are the same, through CSV with either form of the price as through NDJSON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(product, { minLength: 1, maxLength: 20 }), async (products) => {
        const sent = products.map((one) => ({ ...one, sku: `S-${++imported}` }));
        const before = await importInto(
          from,
          'application/x-ndjson',
          sent.map((one) => `${JSON.stringify(one)}\n`).join(''),
        );
        const csv = await exported(from, 'text/csv', before);
        const json = `name,description,sku,price,attributes,${DETAILS}`;
        const lines = await exported(from, 'application/x-ndjson', before, json);
        for (const [target, fields] of [
          [to, FIELDS],
          [another, IN_MAJOR_UNIT],
        ] as const) {
          const file = await exported(from, 'text/csv', before, fields);
          const after = await importInto(target, 'text/csv', file);
          expect(await exported(target, 'application/x-ndjson', after, json)).to.equal(lines);
          expect(await exported(target, 'text/csv', after, fields)).to.equal(file);
        }
        // With their ids they go back, and nothing changes.
        for (const [type, fields] of [
          ['text/csv', `id,version,${FIELDS}`],
          ['text/csv', `${IN_MAJOR_UNIT},version,id`],
          ['application/x-ndjson', `id,version,updatedAt,${json}`],
        ] as const)
          for (const existing of ['merge', 'replace']) {
            const file = await exported(from, type, before, fields);
            const path = `/v1/products/imports?match=id&existing=${existing}`;
            const { text } = await from.client.post(path, file, { headers: { 'Content-Type': type } });
            const unchanged = text.match(/"status":200,"id":\d+,"version":1,"unchanged":true\}\n/g);
            expect(unchanged, text).to.have.length(products.length);
          }
        // Another reader of CSV finds the same cells.
        const rows: Record<string, string>[] = parse(csv, { columns: true, record_delimiter: '\r\n' });
        expect(rows.map(({ name, description }) => [name, description])).to.deep.equal(
          sent.map(({ name, description = '' }) => [name, description]),
        );
      }),
      { numRuns: sized({ gate: 10, night: 100 }) },
    );
  });
});
