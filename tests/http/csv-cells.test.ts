import { expect } from 'chai';
import { CSV, ndjson, outcomes, rehearsedImport, resultsOf } from '../support/imports.js';
import { inProcessService } from '../support/in-process-service.js';
import { list } from '../support/list.js';

type Fields = Readonly<Record<string, unknown>>;
/** The cells of a row with the fields that they give or change; undefined: no value. Or with the issues that they have. */
type Row = readonly [cells: string, expected: Fields | string, ...more: string[]];

const NO_NUMBERS = [
  ...list`0x10  ٣  +5  5.  .5  1_000  "1,000"  "7,8"  NaN  Infinity  sixty  true  --1  ""`,
  ...[' 5', '5 ', '1 000'],
];
const NO_INTEGERS = [...NO_NUMBERS, ...list`05  1e2  1.0  25.00  1.000  1.5  1e400  0.99999999999999999`];
const MAX = Number.MAX_SAFE_INTEGER;

/** Each of the cells has this one issue. */
const refused = (issue: string, cells: readonly string[]) => cells.map((cell): Row => [cell, issue]);
/** The same, with another cell behind. */
const behind = (end: string, rows: readonly Row[]) =>
  rows.map(([cells, ...expected]): Row => [`${cells},${end}`, ...expected]);
const price = (amount: number, currency = 'EUR') => ({ price: { amount, currency } });
const tags = (...all: string[]) => ({ tags: all });
const images = (...urls: string[]) => ({ images: urls.map((url) => ({ url })) });
const attributes = (all: Fields) => ({ attributes: all });

/** The rows of new products, by the header row of them. */
const NEW: readonly (readonly [header: string, ...rows: Row[]])[] = [
  [
    'description,attributes.a,attributes.b',
    ['"","",', { description: '', attributes: { a: '' } }],
    [',,', {}],
    [' =1+1 ,,', { description: ' =1+1 ' }],
    ['"1\r\n2\n3\r,\r\n\r\n"," a, ""b"" ",', { description: '1\r\n2\n3\r,\r\n\r\n', attributes: { a: ' a, "b" ' } }],
    ['\ufeffx,,', { description: '\ufeffx' }],
    ...refused('invalid_format /description', ['a\0b,,', 'a\u0001b,,', 'a\u007fb,,']),
  ],
  [
    'attributes.watts,"attributes.a.b:c, d",attributes.on',
    ['7.5,1,true', attributes({ watts: '7.5', 'a.b:c, d': '1', on: 'true' })],
  ],
  [
    'attributes[watts]:number,attributes[on]:boolean,attributes[a.b[0]:number],attributes.c]:number',
    ['7.5,true,1,2', attributes({ watts: 7.5, on: true, 'a.b[0]:number': '1', 'c]:number': '2' })],
    ['-1e2,FALSE,,', attributes({ watts: -100, on: false })],
    [',,,', {}],
    ['"7,5",yes,,', 'invalid_type /attributes/watts', 'invalid_type /attributes/on'],
    ...behind(',,', refused('invalid_type /attributes/watts', NO_NUMBERS)),
    ['1e400,,,', 'out_of_range /attributes/watts'],
    ...list`,yes,,  ,T,,  ," true",,  ,1,,  ,"",,`.map((cells): Row => [cells, 'invalid_type /attributes/on']),
  ],
  [
    'attributes',
    [
      '"{""colour"":""green"",""watts"":7.5,""on"":true,""a.b:c"":""""}"',
      attributes({ colour: 'green', watts: 7.5, on: true, 'a.b:c': '' }),
    ],
    ['5', 'invalid_type /attributes'],
  ],
  [
    'price.amount,price.currency',
    [`${MAX},EUR`, price(MAX)],
    ['"7",EUR', price(7)],
    ['-0,EUR', price(0)],
    [',', {}],
    ['5,', 'required /price/currency'],
    [',EUR', 'required /price/amount'],
    ...behind('EUR', refused('invalid_type /price/amount', NO_INTEGERS)),
    ...behind('EUR', refused('out_of_range /price/amount', ['-1', '9007199254740992'])),
  ],
  // The digits of each currency are in money.test.ts.
  [
    'price.decimal,price.currency',
    ['19.99,EUR', price(1999)],
    ['"0.07",EUR', price(7)],
    ['007.5,EUR', price(750)],
    ['90071992547409.91,EUR', price(MAX)],
    ['1999,JPY', price(1999, 'JPY')],
    ['19.900000,EUR', price(1990)],
    [',', {}],
    ['19.99,', 'required /price/currency'],
    ['abc,', 'invalid_type /price/decimal', 'required /price/currency'],
    [',EUR', 'required /price/decimal'],
    ['19.99,eur', 'invalid_format /price/currency'],
    ...refused('invalid_type /price/decimal', list`19.999,EUR  1999.5,JPY  19.990001,EUR  1.2345,KWD  EUR 5,EUR`),
    ...behind('EUR', refused('invalid_type /price/decimal', [...NO_NUMBERS, '1e2', '"1,299.00"'])),
    ...behind('EUR', refused('out_of_range /price/decimal', list`-1.00  90071992547409.92  90071992547409.9200`)),
  ],
  ['price.currency,price.decimal', ['EUR,2.5', price(250)]],
  [
    'tags',
    ['a', tags('a')],
    [' a |\t b\u00a0| c d', tags('a', 'b', 'c d')],
    ['"\u2003a|b\ufeff"', tags('\u2003a', 'b\ufeff')],
    ['"a|""b"""', tags('a', '"b"')],
    ['é|e\u0301', tags('é', 'e\u0301')],
    ['1|true', tags('1', 'true')],
    ['', {}],
    ['""', {}],
    ...refused('too_short /tags/1', ['a||b', 'a|', 'a| ']),
    [' ', 'too_short /tags/0'],
    ...refused('invalid_format /tags/0', ['"a,b"', '"cotton, summer|x"', '"a\nb"']),
    ['a | a', 'duplicate_value /tags/1'],
    ['a|b|a', 'duplicate_value /tags/2'],
    [Array.from({ length: 51 }, (_, at) => at).join('|'), 'too_long /tags'],
  ],
  [
    'images',
    ['"[{""url"":""https://a""}]"', images('https://a')],
    ['"[{""alt"":null,""url"":""https://a""}]"', images('https://a')],
    ['https://a', images('https://a')],
    ['"HTTP://a/?b=c,d|https://b"', images('HTTP://a/?b=c,d', 'https://b')],
    ['[]', {}],
    ['', {}],
    ['https://a|b.jpg', 'invalid_format /images/1/url'],
    ['https://a | https://b', 'invalid_format /images/0/url', 'invalid_format /images/1/url'],
    ['https://a|', 'too_short /images/1/url'],
    ['ftp://a', 'invalid_format /images/0/url'],
    ['https://a|https://a', 'duplicate_value /images/1/url'],
    ...refused('invalid_type /images', ['{}', '5']),
    ['"[{""alt"":""x""}]"', 'required /images/0/url'],
  ],
  [
    'status',
    ['archived', { status: 'archived' }],
    ['live', {}],
    ['', {}],
    ['""', 'too_short /status'],
    ...refused('invalid_format /status', ['Live', 'draft ']),
  ],
  ['brand', [' a ', { brand: ' a ' }], [' ', 'invalid_format /brand']],
  [
    'gtin',
    ['00000000', { gtin: '00000000' }],
    ['"4006381333931"', { gtin: '4006381333931' }],
    ...refused('invalid_format /gtin', ['4.00638E+12', '36000291452']),
  ],
  [
    'stock',
    ['0', { stock: 0 }],
    ['-0', { stock: 0 }],
    [`${MAX}`, { stock: MAX }],
    ['', {}],
    ...refused('invalid_type /stock', NO_INTEGERS),
    ...refused('out_of_range /stock', ['-1', '9007199254740992']),
  ],
  [
    'sku,price.amount,attributes',
    ['ä,5,"{""x"":[]}"', 'invalid_format /sku', 'required /price/currency', 'invalid_type /attributes/x'],
  ],
];

const FULL = {
  name: 'Lamp',
  description: 'Bright',
  price: { amount: 1999, currency: 'EUR' },
  attributes: { watt: 60, colour: 'red', on: true },
  status: 'draft',
  tags: ['lighting/lamps', ' "new" ', '=1+1'],
  images: [{ url: 'https://a/1.jpg', alt: 'a "b", c' }, { url: 'https://a/2.jpg' }],
  url: 'https://a/?b=c,d',
  brand: 'Lumen, Co',
  gtin: '0036000291452',
  group: 'L-1',
  stock: 12,
};
const { price: _price, ...UNPRICED } = FULL;
const IN_YEN = { ...FULL, price: { amount: 5, currency: 'JPY' } };
/** The cells of the details, as an export shows them. */
const CELLS = {
  status: 'draft',
  tags: '"lighting/lamps| ""new"" |=1+1"',
  images: '"[{""url"":""https://a/1.jpg"",""alt"":""a \\""b\\"", c""},{""url"":""https://a/2.jpg""}]"',
  url: '"https://a/?b=c,d"',
  brand: '"Lumen, Co"',
  gtin: '0036000291452',
  group: 'L-1',
  stock: '12',
};
const changed = (more: Fields) => attributes({ ...FULL.attributes, ...more });

/** The rows of products that exist, with the fields that change; under replace with all of them. */
type Stored = readonly [header: string, ...rows: Row[]];

const MERGED: readonly Stored[] = [
  [
    'name,description,price.amount,price.currency,attributes.colour',
    ['Torch,,,,', { name: 'Torch' }],
    [',,,,', {}],
    [',,5,,', price(5)],
    [',"",,,""', { description: '', ...changed({ colour: '' }) }],
    ['"",,,,', 'too_short /name'],
  ],
  [
    'attributes.watt',
    ['60', {}],
    ['6e1', {}],
    ['61.5', changed({ watt: 61.5 })],
    ...refused('invalid_type /attributes/watt', [...NO_NUMBERS, '060']),
    ...refused('out_of_range /attributes/watt', ['1e400', '9007199254740993']),
  ],
  [
    'attributes.on',
    ['TRUE', {}],
    ['False', changed({ on: false })],
    ...refused('invalid_type /attributes/on', ['1', 'yes', '"true "', '" true"']),
  ],
  ['attributes.colour', ['5', changed({ colour: '5' })], ['true', changed({ colour: 'true' })]],
  ['attributes[watt]', ['7', changed({ watt: 7 })]],
  ['attributes.new', ['7', changed({ new: '7' })]],
  ['attributes[new]:number', ['7', changed({ new: 7 })]],
  ['attributes[colour]:number', ['7', changed({ colour: 7 })]],
  ['attributes[watt]:boolean', ['true', changed({ watt: true })]],
  ['attributes', ['"{""watt"":null,""a"":1}"', attributes({ colour: 'red', on: true, a: 1 })]],
  [
    'price.decimal,price.currency',
    ['24.99,', price(2499)],
    ['19.99,', {}],
    ['19.99,EUR', {}],
    ['24.99,USD', price(2499, 'USD')],
    [',EUR', {}],
    ['1999,JPY', price(1999, 'JPY')],
    [',', {}],
    [',JPY', 'required /price/decimal'],
    [',jpy', 'invalid_format /price/currency', 'required /price/decimal'],
    ['24.99,eur', 'invalid_format /price/currency'],
    ...refused('invalid_type /price/decimal', ['x,', '24.999,', '"",']),
    ['-1,', 'out_of_range /price/decimal'],
  ],
  ['price.currency,price.amount', ['JPY,', 'required /price/amount'], ['EUR,', {}], ['JPY,1250', price(1250, 'JPY')]],
  ['price.currency', ['JPY', 'required /price/amount'], ['EUR', {}]],
  ['version', ...refused('invalid_type /version', NO_INTEGERS)],
  ['deleted', ...refused('invalid_type /deleted', ['yes', '1', '""'])],
  [
    'tags',
    ['sale', tags('sale')],
    ['" ""new"" |sale"', tags('"new"', 'sale')],
    [CELLS.tags, {}],
    ['', {}],
    ['""', { tags: undefined }],
  ],
  [
    'images',
    [CELLS.images, {}],
    ['https://a/1.jpg|https://a/2.jpg', {}],
    ['https://b|https://a/1.jpg', { images: [{ url: 'https://b' }, FULL.images[0]] }],
    ['"[ {""alt"":""a \\""b\\"", c"", ""url"":""https://a/1.jpg""}, {""url"":""https://a/2.jpg""} ]"', {}],
    ['', {}],
    ['[]', { images: undefined }],
  ],
  [
    'gtin',
    ['00036000291452', {}],
    ['036000291452', {}],
    ['96385074', { gtin: '96385074' }],
    ['36000291452', 'invalid_format /gtin'],
  ],
  ['tags,stock,gtin', ['a|a,x,1', 'duplicate_value /tags/1', 'invalid_format /gtin', 'invalid_type /stock']],
  [Object.keys(CELLS).join(), [Object.values(CELLS).join(), {}]],
];

const CLEARED: readonly Stored[] = [
  [
    'description,stock,brand,status,tags,images',
    [
      ',,,,,',
      Object.fromEntries(list`description  stock  brand  status  tags  images`.map((name) => [name, undefined])),
    ],
  ],
  ['description', ['""', { description: '' }]],
  ['attributes', ['', { attributes: undefined }]],
  ['attributes.watt,attributes[on],attributes.new', [',,', attributes({ colour: 'red' })]],
  ['attributes[watt]:number,attributes.colour', [',""', attributes({ colour: '', on: true })]],
  ['attributes.watt,attributes.on,attributes.colour', [',,', { attributes: undefined }]],
  [
    'price.amount,price.currency',
    [',', { price: undefined }],
    ['5,EUR', price(5)],
    ['5,', 'required /price/currency'],
    [',EUR', 'required /price/amount'],
  ],
  [
    'price.decimal,price.currency',
    [',', { price: undefined }],
    ['5,', 'required /price/currency'],
    [',EUR', 'required /price/decimal'],
  ],
  ['price.amount', ['', { price: undefined }], ['5', price(5)]],
  ['price.currency', ['', { price: undefined }], ['EUR', {}], ['USD', 'required /price/amount']],
  ['id,version,deleted,,name', [',,,,Lamp', {}]],
  ['name,stock', [',1', 'required /name'], [',1.0', 'required /name', 'invalid_type /stock']],
];

const REPLACED: readonly Stored[] = [
  [
    'name,description,price.amount,price.currency,attributes.watt,tags',
    ['Torch,,,,,', { name: 'Torch' }],
    ['Torch,"",,,61,sale', { name: 'Torch', description: '', attributes: { watt: 61 }, tags: ['sale'] }],
    [',,,,,', 'required /name'],
    ['x,,5,,,', 'required /price/currency'],
    ['x,,,,sixty,', 'invalid_type /attributes/watt'],
  ],
  [
    'name,price.decimal,price.currency',
    ['x,24.99,', 'required /price/currency'],
    ['x,,EUR', 'required /price/decimal'],
  ],
  ['name,images', ['Lamp,https://a/1.jpg', { name: 'Lamp', images: [FULL.images[0]] }]],
];

const UNPRICED_ROWS: Stored = [
  'price.decimal,price.currency',
  ['24.99,', 'required /price/currency'],
  [',EUR', 'required /price/decimal'],
];
const YEN_ROWS: Stored = ['price.decimal,price.currency', ['24.99,', 'invalid_type /price/decimal']];

/** By the query and the product that there is. */
const STORED: readonly (readonly [query: string, stored: Fields, tables: readonly Stored[]])[] = [
  ['', FULL, MERGED],
  ['', IN_YEN, [YEN_ROWS]],
  ['', UNPRICED, [UNPRICED_ROWS]],
  ['&empty=clear', FULL, CLEARED],
  ['&existing=replace', FULL, REPLACED],
  ['&existing=replace&empty=clear', FULL, [['name,description', ['Torch,', { name: 'Torch' }]]]],
  ['&existing=skip&empty=clear', FULL, [['name,price.amount', ['Torch,x', {}]]]],
  ['&empty=keep', FULL, [['name,description', ['Torch,', { name: 'Torch' }]]]],
];

describe('a cell of CSV', () => {
  const service = inProcessService({ STORE: 'sqlite' });
  const path = '/v1/products/imports';
  const send = async (csv: string) => resultsOf(await service.post(path, csv, { headers: CSV }));
  const sendMatched = (csv: string, query: string) =>
    rehearsedImport(service.client, { target: `${path}?match=sku${query}`, body: csv, headers: CSV });
  const fieldsOf = async (id: number) => {
    const { id: _id, sku: _sku, ...fields } = (await service.get(`/v1/products/${id}`)).json;
    return fields;
  };
  const plain = (fields: Fields) => JSON.parse(JSON.stringify(fields));

  for (const [header, ...rows] of NEW)
    it(`of a new product: ${header}`, async () => {
      const results = await send(`${header},name\n${rows.map(([cells]) => `${cells},x\n`).join('')}`);
      for (const [at, [cells, expected, ...more]] of rows.entries())
        if (typeof expected === 'string')
          expect(outcomes([results[at]]), cells).to.deep.equal([[400, 'validation_failed', expected, ...more]]);
        else expect(await fieldsOf(results[at]?.id), cells).to.deep.equal({ ...expected, name: 'x' });
    });

  let count = 0;
  const tables = STORED.flatMap(([query, stored, all]) => all.map((one) => [query, stored, ...one] as const));
  for (const [query, stored, header, ...rows] of tables)
    it(`beside a product that exists: ${header} ${query}`, async () => {
      const records = rows.map(() => ({ ...stored, sku: `S-${++count}` }));
      const ndjsonType = { headers: { 'Content-Type': 'application/x-ndjson' } };
      const made = resultsOf(await service.post(path, ndjson(records), ndjsonType));
      const csv = rows.map(([cells], at) => `${records[at]?.sku},${cells}\n`).join('');
      const results = await sendMatched(`sku,${header}\n${csv}`, query);
      for (const [at, [cells, expected, ...more]] of rows.entries()) {
        const fields = await fieldsOf(made[at]?.id);
        const issues = typeof expected === 'string' ? [expected, ...more] : undefined;
        if (issues) expect(outcomes([results[at]]), cells).to.deep.equal([[400, 'validation_failed', ...issues]]);
        const isReplaced = query.includes('replace') && !issues;
        const wanted = plain({ ...(isReplaced ? {} : stored), ...(issues ? {} : Object(expected)) });
        // Under skip no cell counts.
        expect(fields, cells).to.deep.equal(wanted);
        if (!issues) {
          const isSame = JSON.stringify(wanted) === JSON.stringify(plain(stored));
          expect([results[at]?.status, results[at]?.unchanged], cells).to.deep.equal([200, isSame || undefined]);
        }
      }
    });

  it('that must be JSON is read by the rules of bodies, whether the row has a record or not', async () => {
    const deep = `${'['.repeat(30)}${']'.repeat(30)}`;
    const cells = ['x', '{', '""', '"{""a"":1,""a"":2}"', '"[{""__proto__"":1}]"', deep];
    await send('name,sku\nLamp,JSON\n');
    for (const column of ['attributes', 'images'])
      for (const sku of ['JSON', 'no-JSON'])
        for (const query of ['', '&empty=clear', '&existing=replace']) {
          const rows = cells.map((cell) => `${sku},x,${cell}\n`).join('');
          const results = await sendMatched(`sku,name,${column}\n${rows}`, query);
          const malformed = [400, 'malformed_json', `invalid_format /${column}`];
          expect(outcomes(results), `${column} ${sku} ${query}`).to.deep.equal(cells.map(() => malformed));
          for (const { error } of results) expect(error.message).to.include(`The cell in the column ${column} `);
        }
  });

  for (const [header, cells, ...parts] of [
    ['price.amount,price.currency', '25.00,EUR', 'in the smallest unit', 'price.decimal'],
    ['price.currency', 'EUR', 'price.amount is required', '1999 for 19.99 EUR'],
    ['price.decimal,price.currency', '19.999,EUR', 'at most 2 digits behind it: 19.99'],
    ['price.decimal,price.currency', '1999.5,JPY', 'JPY, without a point: 1999'],
    ['price.decimal,price.currency', '1.2345,KWD', 'at most 3 digits behind it: 1.999'],
    ['price.decimal,price.currency', '"19,99",EUR', 'in the major unit of EUR', 'point'],
    ['price.decimal,price.currency', '-1.00,EUR', 'from 0 to 90071992547409.91'],
    [
      'attributes[w]:number',
      'x',
      'attributes.w takes a number such as 7.5 or 0.25, with a point and a digit before it.',
    ],
    ['attributes[on]:boolean', 'x', 'attributes.on takes true or false.'],
    ['images', 'x', 'must be JSON or URLs joined by |'],
    ['tags', '"cotton, summer"', 'In a cell | separates them: cotton|summer.'],
    ['stock', '1.000', 'Write only digits, such as 1000: no point, comma or exponent.'],
  ])
    it(`has a message that shows how it is written: ${header}: ${cells}`, async () => {
      const [result] = await send(`name,${header}\nx,${cells}\n`);
      for (const part of parts) expect(result?.error.details[0].message).to.include(part);
    });
});
