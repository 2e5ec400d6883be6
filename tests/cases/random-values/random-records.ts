import fc from 'fast-check';
import { list } from '../../support/list.js';

/** Text of one line, or of several, with everything that formats, databases and programs treat specially. */
const NASTY = [
  ...[...list`"  '  ,  ;  =1+1  @  +  -  %  $ne  $(x)  {{x}}  <b>  &amp;  --  /*  ';--`, '\\'],
  ...[
    ' ',
    '\u00a0',
    '\u2028',
    '\u2029',
    '\u0085',
    '\u200b',
    '\u200d',
    '\ufeff',
    '\u202e',
    '\ufffe',
    '\uffff',
    '\ufffd',
  ],
  ...['é', 'e\u0301', 'ß', 'İ', 'ﬁ', '😀', '👨‍👩‍👧', '\u{10ffff}', '\ud7ff', '\ue000', '東', 'ا', '\u0300'],
  ...[...list`null  true  undefined  NaN  0012  1e5  []  {}  __proto__  constructor  \n  %00`, '\\u0041'],
];
const MANY_LINES = ['\n', '\r', '\r\n', '\t', '\n\n', '",\r\n"'];

function texts(parts: readonly string[], maxLength: number): fc.Arbitrary<string> {
  const part = fc.oneof(
    fc.constantFrom(...parts),
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.string({ unit: 'grapheme', maxLength: 4 }),
  );
  const isAllowed = (text: string) =>
    [...text].every((one) =>
      parts.includes('\n') && /[\t\n\r]/.test(one) ? true : !/[\u0000-\u001f\u007f]/.test(one),
    );
  return fc
    .array(part, { maxLength: 8 })
    .map((all) => [...all.join('').replace(/\p{Cs}/gu, '')].slice(0, maxLength).join(''))
    .filter(isAllowed);
}

const LINE = texts(NASTY, 60);
const BLANK = /^[\s\u0085]*$/u;
const NAME = fc.oneof(
  { weight: 20, arbitrary: LINE.filter((text) => !BLANK.test(text)) },
  { weight: 1, arbitrary: fc.constantFrom('x'.repeat(200), '😀'.repeat(200), `${' '.repeat(199)}x`) },
);
const KEYS = [
  ...list`constructor  toString  hasOwnProperty  valueOf  length  prototype  __defineGetter__  __proto  _id`,
  ...[...list`$set  $ne  a.b  a..b  .  $  :  :ne  a:ne  0  1  -1  01  9007199254740993  a b  /  ~  ~1`, ' '],
];
const KEY = fc.oneof(fc.constantFrom(...KEYS), LINE).filter((key) => key !== '' && key !== '__proto__');
/** A number as JSON text; programs that keep it as a number return the same double. */
const NUMBER = fc.oneof(
  fc.constantFrom(
    '-0',
    '0',
    '-0.0',
    '1e2',
    '100.0',
    '1E+2',
    '100e-2',
    '0.1',
    '1e-7',
    '5e-324',
    '2.2250738585072014e-308',
  ),
  fc.constantFrom(
    '9007199254740991',
    '-9007199254740991',
    '9007199254740991.0',
    '4503599627370496.5',
    '0.30000000000000004',
  ),
  fc.double({ noNaN: true, min: -9e15, max: 9e15 }).map(String),
  fc.maxSafeInteger().map(String),
);
const AMOUNT = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '1e2',
    '100.0',
    '9007199254740991',
    '9.007199254740991e15',
    '1E15',
    '2147483648',
    '4294967296',
  ),
  fc.maxSafeNat().map(String),
);

/** JSON of the same text, some of whose characters are escaped. @param escapes a bit for each of eight places */
function spell(text: string, escapes: number): string {
  const characters = [...text].map((character, at) => {
    const isEscaped = ((escapes >> (at % 8)) & 1) === 1;
    return isEscaped ? character.replace(/[\s\S]/g, escapeOf) : JSON.stringify(character).slice(1, -1);
  });
  return `"${characters.join('')}"`;
}

function escapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A record as JSON text. */
export type Written = Readonly<Record<string, string>>;

const spelled = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.nat(255)).map(([one, bits]) => spell(one, bits));
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const ATTRIBUTES = fc
  .uniqueArray(
    fc.tuple(KEY, fc.nat(255), fc.oneof(spelled(LINE), NUMBER, fc.constantFrom('true', 'false', '""'))),
    {
      maxLength: 8,
      selector: ([key]) => key,
    },
  )
  .map((all) => `{${all.map(([key, bits, json]) => `${spell(key, bits)}:${json}`).join()}}`);
const TAG = fc
  .oneof(LINE, fc.constantFrom('lighting/lamps', 'Sale', 'sale', 'x'.repeat(64), '😀'.repeat(64)))
  .filter((text) => !BLANK.test(text) && !/[,|]/.test(text));
const TAGS = fc
  .uniqueArray(fc.tuple(TAG, fc.nat(255)), { maxLength: 8, selector: ([tag]) => tag })
  .map((all) => `[${all.map(([tag, bits]) => spell(tag, bits)).join()}]`);
const URL = fc
  .tuple(
    fc.constantFrom('https://', 'HTTP://', 'http://'),
    fc.constantFrom(
      'a',
      'example.com',
      'EXAMPLE.com:8443',
      '127.0.0.1',
      '[::1]:80',
      'a_b.c',
      'x%20y',
      "!$&'()*+,;=",
    ),
    fc.array(fc.constantFrom('/', '/a', '/%C3%A4', '/a;b=1,2', '/..', '/@:', '/~'), { maxLength: 5 }),
    fc.constantFrom('', '?', '?a=b&c=%7C', '#', '#a/?b', '?a#b'),
  )
  .map((parts) => parts.flat().join(''));
const IMAGES = fc
  .uniqueArray(fc.tuple(URL, fc.nat(255), optional(spelled(LINE))), {
    maxLength: 6,
    selector: ([url]) => url,
  })
  .map((all) =>
    all.map(([url, bits, alt]) => `{"url":${spell(url, bits)}${alt === undefined ? '' : `,"alt":${alt}`}}`),
  )
  .map((all) => `[${all.join()}]`);
const GTIN = fc
  .constantFrom('00000000', '96385074', '036000291452', '4006381333931', '0000000000000', '10012345678902')
  .map((gtin) => JSON.stringify(gtin));
const DETAILS = fc.record(
  {
    status: fc.constantFrom('"draft"', '"\\u0061rchived"'),
    tags: TAGS,
    images: IMAGES,
    url: spelled(URL),
    brand: spelled(NAME),
    gtin: GTIN,
    group: fc.constantFrom('"A"', '"a"', '"1"', '"-._"', `"${'g'.repeat(64)}"`),
    stock: AMOUNT,
  },
  { requiredKeys: [] },
);
const PRODUCT = fc
  .record({
    details: DETAILS,
    name: spelled(NAME),
    description: optional(
      fc.oneof(
        spelled(texts([...NASTY, ...MANY_LINES], 200)),
        fc.constant(JSON.stringify('é'.repeat(5_000))),
      ),
    ),
    price: optional(fc.tuple(AMOUNT, fc.constantFrom('EUR', 'JPY', 'AAA', 'ZZZ'))),
    attributes: optional(ATTRIBUTES),
  })
  .map(({ name, description, price, attributes, details }) => ({
    name,
    ...(description !== undefined && { description }),
    ...(price && { price: `{"amount":${price[0]},"currency":"${price[1]}"}` }),
    ...(attributes !== undefined && { attributes }),
    ...details,
  }));
const USER = fc.record({
  name: spelled(NAME),
  email: fc
    .array(fc.constantFrom(..."abzABZ019.!#$%&'*+/=?^_`{|}~-"), { maxLength: 30 })
    .map((all) => `${all.join('')}-NUMBER@x.${all.length % 2 ? 'Example' : 'co'}`)
    .map((email) => JSON.stringify(email)),
});
const ORDER = fc.record({
  userId: fc.constantFrom('1', '1.0', '1e0'),
  items: fc
    .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 1_000_000 })), {
      minLength: 1,
      maxLength: 8,
      selector: ([id]) => id,
    })
    .map((all) => `[${all.map(([id, quantity]) => `{"quantity":${quantity}.0,"productId":${id}}`).join()}]`),
});

/** Returns the JSON text of an object. @param members the JSON text of each member */
export function objectOf(members: Readonly<Record<string, string>>): string {
  return `{${Object.entries(members)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join()}}`;
}

/** The value that a client must read. */
export function meaningOf(written: Written): Record<string, unknown> {
  const value = JSON.parse(objectOf(written), (_, one) => (Object.is(one, -0) ? 0 : one));
  for (const name of ['attributes', 'tags', 'images'])
    if (value[name] && Object.keys(value[name]).length === 0) delete value[name];
  return value;
}

/** The fields that are no text if they are empty. */
export const TEXTS = ['status', 'url', 'brand', 'gtin', 'group'] as const;

/** What CSV says of a record: the cells as another program reads them. */
export function meaningOfRow(row: Readonly<Record<string, string>>, plural: string): Record<string, unknown> {
  const { name, description, sku, email, attributes, tags, images, stock } = row;
  if (plural === 'users') return { name, email };
  return {
    name,
    // csv-parse does not tell an empty text from no value.
    ...(description !== '' && { description }),
    ...(sku !== '' && { sku }),
    ...(row['price.amount'] !== '' && {
      price: { amount: Number(row['price.amount']), currency: row['price.currency'] },
    }),
    ...(attributes && { attributes: JSON.parse(attributes) }),
    ...(tags && { tags: tags.split('|') }),
    ...(images && { images: JSON.parse(images) }),
    ...Object.fromEntries(TEXTS.map((field) => [field, row[field]]).filter(([, text]) => text !== '')),
    ...(stock && { stock: Number(stock) }),
  };
}

const BATCH = { products: 200, users: 30, orders: 20 };
export const BATCH_SIZE = BATCH.products + BATCH.users + BATCH.orders;
/** Records of every kind, as many as one run of round trips writes. */
export const batch = fc.record({
  products: fc.array(PRODUCT, { minLength: BATCH.products, maxLength: BATCH.products }),
  users: fc.array(USER, { minLength: BATCH.users, maxLength: BATCH.users }),
  orders: fc.array(ORDER, { minLength: BATCH.orders, maxLength: BATCH.orders }),
});
