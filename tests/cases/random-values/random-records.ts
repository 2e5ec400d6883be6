import fc from 'fast-check';
import { RECORD_TABLES } from '#src/composition/tables.js';
import { exampleOf, type Field } from '#src/domain/fields.js';
import { list } from '../../support/list.js';
import { RECORD_PLURALS } from '../../support/tables.js';

export type Plural = (typeof RECORD_PLURALS)[number];

/** Text of one line, or of several, with everything that formats, databases and programs treat specially. */
const NASTY = [
  ...[...list`"  '  ,  ;  =1+1  @  +  -  %  $ne  $(x)  {{x}}  <b>  &amp;  --  /*  ';--`, '\\'],
  ...[' ', '\u00a0', '\u2028', '\u2029', '\u0085', '\u200b'],
  ...['\u200d', '\ufeff', '\u202e', '\ufffe', '\uffff', '\ufffd'],
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
  fc.constantFrom(...list`-0  0  -0.0  1e2  100.0  1E+2  100e-2  0.1  1e-7  5e-324  2.2250738585072014e-308`),
  fc.constantFrom(
    ...list`9007199254740991  -9007199254740991  9007199254740991.0  4503599627370496.5  0.30000000000000004`,
  ),
  fc.double({ noNaN: true, min: -9e15, max: 9e15 }).map(String),
  fc.maxSafeInteger().map(String),
);
const AMOUNT = fc.oneof(
  fc.constantFrom(...list`0  -0  1e2  100.0  9007199254740991  9.007199254740991e15  1E15  2147483648  4294967296`),
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

const spelled = (text: fc.Arbitrary<string>) => fc.tuple(text, fc.nat(255)).map(([one, bits]) => spell(one, bits));
const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const ATTRIBUTES = fc
  .uniqueArray(fc.tuple(KEY, fc.nat(255), fc.oneof(spelled(LINE), NUMBER, fc.constantFrom('true', 'false', '""'))), {
    maxLength: 8,
    selector: ([key]) => key,
  })
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
    fc.constantFrom('a', 'example.com', 'EXAMPLE.com:8443', '127.0.0.1', '[::1]:80', 'a_b.c', 'x%20y', "!$&'()*+,;="),
    fc.array(fc.constantFrom('/', '/a', '/%C3%A4', '/a;b=1,2', '/..', '/@:', '/~'), { maxLength: 5 }),
    fc.constantFrom('', '?', '?a=b&c=%7C', '#', '#a/?b', '?a#b'),
  )
  .map((parts) => parts.flat().join(''));
const IMAGES = fc
  .uniqueArray(fc.tuple(URL, fc.nat(255), optional(spelled(LINE))), { maxLength: 6, selector: ([url]) => url })
  .map((all) => all.map(([url, bits, alt]) => `{"url":${spell(url, bits)}${alt === undefined ? '' : `,"alt":${alt}`}}`))
  .map((all) => `[${all.join()}]`);
const GTIN = fc
  .constantFrom('00000000', '96385074', '036000291452', '4006381333931', '0000000000000', '10012345678902')
  .map((gtin) => JSON.stringify(gtin));
const EMAIL = fc
  .array(fc.constantFrom(..."abzABZ019.!#$%&'*+/=?^_`{|}~-"), { maxLength: 30 })
  .map((all) => `${all.join('')}-NUMBER@x.${all.length % 2 ? 'Example' : 'co'}`)
  .map((email) => JSON.stringify(email));
const ITEMS = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 1_000_000 })), {
    minLength: 1,
    maxLength: 8,
    selector: ([id]) => id,
  })
  .map((all) => `[${all.map(([id, quantity]) => `{"quantity":${quantity}.0,"productId":${id}}`).join()}]`);

/** JSON of values with everything special that a field allows. Other fields have values of {@link jsonOf}. */
const SPECIAL: Readonly<Record<string, Readonly<Record<string, fc.Arbitrary<string>>>>> = {
  products: {
    name: spelled(NAME),
    description: fc.oneof(
      spelled(texts([...NASTY, ...MANY_LINES], 200)),
      fc.constant(JSON.stringify('é'.repeat(5_000))),
    ),
    sku: fc.constant('"S_NUMBER.-"'),
    price: fc
      .tuple(AMOUNT, fc.constantFrom('EUR', 'JPY', 'KWD', 'CLF', 'ZZZ'))
      .map(([amount, currency]) => `{"amount":${amount},"currency":"${currency}"}`),
    attributes: ATTRIBUTES,
    status: fc.constantFrom('"draft"', '"\\u0061rchived"'),
    tags: TAGS,
    images: IMAGES,
    url: spelled(URL),
    brand: spelled(NAME),
    gtin: GTIN,
    group: fc.constantFrom('"A"', '"a"', '"1"', '"-._"', `"${'g'.repeat(64)}"`),
    stock: AMOUNT,
  },
  users: { name: spelled(NAME), email: EMAIL },
  orders: { userId: fc.constantFrom('1', '1.0', '1e0'), items: ITEMS },
};

/** JSON of valid values of a field. `NUMBER` in that of a unique one becomes another number in each record. */
function jsonOf(field: Field): fc.Arbitrary<string> {
  switch (field.kind) {
    case 'text': {
      const isValid = (text: string) => text.length >= field.min && field.allowed.test(text);
      const example = fc.constant(field.example);
      if (field.unique) return fc.constant(`"NUMBER${field.example}"`);
      return spelled(
        fc.oneof(
          example,
          texts(NASTY, field.max).map((text) => (isValid(text) ? text : field.example)),
        ),
      );
    }
    case 'integer':
      return field.unique ? fc.constant('NUMBER') : fc.integer({ min: field.min, max: field.max }).map(String);
    case 'choice':
      return fc.constantFrom(...field.values).map((value) => JSON.stringify(value));
    case 'attributes':
      return ATTRIBUTES;
    default:
      return fc.constant(JSON.stringify(exampleOf({ field })['field']));
  }
}

function recordsOf(plural: Plural, length: number) {
  const fields = Object.entries<Field>(RECORD_TABLES[plural].entity);
  const values = fields.map(([name, field]) => [name, SPECIAL[plural]?.[name] ?? jsonOf(field)]);
  const requiredKeys = fields.filter(([, { required }]) => required).map(([name]) => name);
  const record: fc.Arbitrary<Written> = fc.record(Object.fromEntries(values), { requiredKeys });
  return fc.array(record, { minLength: length, maxLength: length });
}

/** Returns the JSON text of an object. @param members the JSON text of each member */
export function objectOf(members: Readonly<Record<string, string>>): string {
  return `{${Object.entries(members)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join()}}`;
}

/** The value that a client must read. */
export function meaningOf(written: Written): Record<string, unknown> {
  const value = JSON.parse(objectOf(written), (_, one) => (Object.is(one, -0) ? 0 : one));
  for (const [name, one] of Object.entries(value))
    if (typeof one === 'object' && Object.keys(one as object).length === 0) delete value[name];
  return value;
}

/** What CSV says of a record: the cells as another program reads them, which does not tell an empty text from no value. */
export function meaningOfRow(row: Readonly<Record<string, string>>, plural: Plural): Record<string, unknown> {
  const values = Object.entries<Field>(RECORD_TABLES[plural].entity).map(([name, field]): [string, unknown] => {
    if (field.kind !== 'object') return [name, meaningOfCell(field, row[name] ?? '')];
    const members = Object.entries(field.fields).map(([member, inner]) => [
      member,
      meaningOfCell(inner, row[`${name}.${member}`] ?? ''),
    ]);
    const known = members.filter(([, value]) => value !== undefined);
    return [name, known.length > 0 ? Object.fromEntries(known) : undefined];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function meaningOfCell(field: Field, cell: string): unknown {
  if (cell === '') return undefined;
  switch (field.kind) {
    case 'integer':
    case 'reference':
      return Number(cell);
    case 'list':
      return field.of.kind === 'text' && field.separator ? cell.split(field.separator) : JSON.parse(cell);
    case 'attributes':
      return JSON.parse(cell);
    default:
      return cell;
  }
}

const COUNTS: Readonly<Record<string, number>> = { products: 200, users: 30 };
const countOf = (plural: Plural) => COUNTS[plural] ?? 20;
export const BATCH_SIZE = RECORD_PLURALS.reduce((sum, plural) => sum + countOf(plural), 0);
/** Records of every kind, as many as one run of round trips writes. */
export const batch = fc.record(
  Object.fromEntries(RECORD_PLURALS.map((plural) => [plural, recordsOf(plural, countOf(plural))])) as Record<
    Plural,
    fc.Arbitrary<Written[]>
  >,
);
