/** Input that breaks a rule, with the error that it gets: one table for tests over HTTP and for campaigns. */

import { list } from './list.js';

/** The code of an issue, and its pointer or the name of its parameter. */
export type Issue = readonly [code: string, place: string];

/** One value that breaks the rules of a field, with its issues in the order of the response. */
export interface BadValue {
  /** The member of the record. */
  readonly member: string;
  /** JSON, perhaps of a value that JavaScript lacks. */
  readonly json: string;
  readonly issues: readonly Issue[];
}

/** A resource with valid records and bad values. */
export interface BadRecords {
  readonly plural: 'products' | 'users' | 'orders';
  /** The required members, in JSON. */
  readonly valid: Readonly<Record<string, string>>;
  readonly values: readonly BadValue[];
}

/** Issues in a list, with a space between the code and the place. */
const issues = (all: TemplateStringsArray): Issue[] =>
  list(all).map((one): Issue => [one.slice(0, one.indexOf(' ')), one.slice(one.indexOf(' ') + 1)]);
const bad = (member: string, json: string, ...codes: (string | Issue)[]): BadValue => ({
  member,
  json,
  issues: codes.map((one): Issue => (typeof one === 'string' ? [one, `/${member}`] : one)),
});
/** The values of a list, each with one issue. */
const each = (member: string, code: string, all: readonly string[]) => all.map((json) => bad(member, json, code));
const text = (value: string) => JSON.stringify(value);
const repeated = (length: number, of = 'x') => text(of.repeat(length));

/** Values of every type. Null is a value that an optional field may have. */
const TYPES = { null: 'null', boolean: 'true', number: '7', string: '"x"', array: '[]', object: '{}' };
const wrongTypes = (member: string, ...right: (keyof typeof TYPES)[]) => {
  const others = Object.entries(TYPES).filter(([type]) => !right.some((one) => one === type));
  return each(
    member,
    'invalid_type',
    others.map(([, json]) => json),
  );
};

/** Characters that no text of one line has. */
const CONTROLS = list`"a\u0000"  "a\n"  "\r"  "a\tb"  "\u001f"  "a\u007f"`;
const SURROGATES = list`"a\ud800"  "\udc00a"  "\ude00\ud83d"`;

const badNames = [
  ...wrongTypes('name', 'string'),
  bad('name', '""', 'too_short'),
  ...each('name', 'invalid_format', list`" "  "\u3000\u2003"  "\ufeff"  "\u0085"  " \u00a0\u2003\u3000"`),
  ...each('name', 'invalid_format', [...CONTROLS, ...SURROGATES]),
  ...each('name', 'too_long', [repeated(201), repeated(201, 'é'), repeated(201, '😀')]),
  bad('name', repeated(201, '\u0001'), 'too_long', 'invalid_format'),
];
const UNKNOWN = list`colour  Name  constructor  toString  prototype  $set  a.b  fields`;
const others = [
  ...[...UNKNOWN, ' name'].map((member) => bad(member, '"x"', 'unknown_field')),
  bad('id', '8999', 'read_only_field'),
  bad('version', '7', 'read_only_field'),
  ...['createdAt', 'updatedAt'].map((member) => bad(member, '"2020-01-01T00:00:00.000Z"', 'read_only_field')),
];

const price = (amount: string, currency: string) => `{"amount":${amount},"currency":${currency}}`;
const badAmounts = (code: string, all: readonly string[]) =>
  all.map((json) => bad('price', price(json, '"EUR"'), [code, '/price/amount']));
const badCurrencies = (code: string, all: readonly string[]) =>
  all.map((json) => bad('price', price('1', json), [code, '/price/currency']));
const badAttributes = (code: string, all: readonly string[]) =>
  all.map((json) => bad('attributes', `{"a/b~c":${json}}`, [code, '/attributes/a~1b~0c']));
const badKey = (json: string, code: string, key: string) =>
  bad('attributes', `{${json}:1}`, [code, `/attributes/${key}`]);
const LONG_KEY = 'k'.repeat(65);
const MANY_KEYS = JSON.stringify(Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`k${at}`, at])));

/** Texts that are no absolute http or https URL of ASCII with a host and without user information (RFC 3986). */
export const NO_URLS = [
  ...list`example.com  //example.com/a  /a  a  http:  http:/  http:/a  http://  https://  https:///a  https://:443`,
  ...list`https://?a  https://#a  ftp://example.com  ws://a  file:///a  mailto:a@b  data:,x  javascript:alert(1)`,
  ...list`http:example.com  https//example.com  httpss://a  xhttp://a  http ://a  http://a b  https://a/b c`,
  ...list`https://user@example.com  https://user:secret@example.com  https://@example.com  https://:@example.com`,
  ...list`https://a:80a  https://a:-1  https://a:8:8  https://a:+8  https://[::1  https://::1  https://[::1]x  https://[g::1]`,
  ...list`https://[]  https://[::1%25eth0]  https://a/%  https://a/%zz  https://a/%2  https://%zz  https://a?%  https://a#%`,
  ...list`https://a/[b]  https://a/{b}  https://a/"b"  https://a/<b>  https://a/\b  https://a/^b  https://a/\`b  https://a/b|c`,
  ...list`https://a/?[b]  https://a/#[b]  https://a#b#c  https://a<b>  https://a\@b  https:\\a  https://a"b`,
  ...list`https://exämple.com  https://例え.jp  https://a/ä  https://a?ä  https://a#ä  https://a/😀  https://ａ`,
  ...[' https://a', 'https://a ', 'https://a\n', '\nhttps://a', 'https://a\tb', 'https://a\0', 'https://a/\u007f'],
  ...['https://a\u00a0', '\ufeffhttps://a', 'https://a/\u200b', '\u212attps://a', 'http\u017f://a'],
];

/** Texts that are no GTIN: another check digit, another length, or something else than digits. */
export const NO_GTINS = [
  ...list`4006381333930  4006381333932  9638507  96385075  036000291453  10012345678903  4006381333913  0360002914520`,
  ...list`0  000000000  0000000000  00000000000  000000000000000  400638133393X  4006381333931.0  +4006381333931`,
  ...list`40063-81333931  400638 1333931  4.006381333931e12  ４００６３８１３３３９３１  ٤٠٠٦٣٨١٣٣٣٩٣١  abcdefgh  ISBN`,
  ...[' 96385074', '96385074 ', '96385074\n', '9638507\u00004'],
];

const BLANKS = list`" "  "\u3000"  "\ufeff"  "\u0085\u2028"  " \u00a0\u2003"`;
const badTags = (code: string, all: readonly string[]) =>
  all.map((json) => bad('tags', `["a",${json}]`, [code, '/tags/1']));
const imageOf = (url: string) => `{"url":${url}}`;
const imageWithAlt = (alt: string) => `{"url":"https://a","alt":${alt}}`;
const badImages = (code: string, member: string, all: readonly string[]) =>
  all.map((json) => bad('images', `[${json}]`, [code, `/images/0${member}`]));
const MANY_IMAGES = JSON.stringify(Array.from({ length: 21 }, (_, at) => ({ url: `https://a/${at}` })));

/** Of the fields of products that few products of before have. */
const badDetails = [
  ...wrongTypes('status', 'string', 'null'),
  bad('status', '""', 'too_short'),
  ...each('status', 'invalid_format', list`"Live"  "published"  "Draft"  "DRAFT"  "draft "  "null"  "draft,archived"`),
  ...wrongTypes('tags', 'array', 'null'),
  ...badTags('invalid_type', list`null  true  7  []  ["a"]  {}  {"name":"a"}`),
  ...badTags('too_short', ['""']),
  ...badTags('too_long', [repeated(65), repeated(65, '😀')]),
  ...badTags('invalid_format', [...BLANKS, ...CONTROLS, ...SURROGATES]),
  ...badTags('invalid_format', list`"a,b"  ","  "a|b"  "|"  "a\u002cb"  "a\u007cb"`),
  bad('tags', `["${'x'.repeat(65)},"]`, ...issues`too_long /tags/0  invalid_format /tags/0`),
  bad('tags', '["a","b","a","b"]', ...issues`duplicate_value /tags/2  duplicate_value /tags/3`),
  bad('tags', '["é","\\u00e9"]', ['duplicate_value', '/tags/1']),
  bad('tags', JSON.stringify(Array.from({ length: 51 }, (_, at) => `t${at}`)), 'too_long'),
  ...wrongTypes('images', 'array', 'null'),
  ...badImages('invalid_type', '', list`null  true  7  "https://example.com"  []`),
  ...badImages('required', '/url', list`{}  {"alt":"x"}`),
  ...badImages('invalid_type', '/url', list`{"url":null}  {"url":7}  {"url":["https://a"]}`),
  ...badImages('too_short', '/url', [imageOf('""')]),
  ...badImages('too_long', '/url', [imageOf(text(`https://a/${'b'.repeat(2_039)}`))]),
  ...badImages('invalid_format', '/url', list`{"url":"a.jpg"}  {"url":"https://u@a"}  {"url":"https://a/ä"}`),
  ...badImages('invalid_type', '/alt', ['7', 'true', '[]'].map(imageWithAlt)),
  ...badImages('too_long', '/alt', [imageWithAlt(repeated(501))]),
  ...badImages('invalid_format', '/alt', [...CONTROLS, ...SURROGATES].map(imageWithAlt)),
  ...badImages('unknown_field', '/width', ['{"url":"https://a","width":7}']),
  bad('images', '[{"url":"https://a"},{"url":"https://a","alt":"b"}]', ['duplicate_value', '/images/1/url']),
  bad('images', MANY_IMAGES, 'too_long'),
  ...wrongTypes('url', 'string', 'null'),
  bad('url', '""', 'too_short'),
  bad('url', text(`https://a/${'b'.repeat(2_039)}`), 'too_long'),
  ...each('url', 'invalid_format', [...NO_URLS.map(text), ...SURROGATES]),
  ...wrongTypes('brand', 'string', 'null'),
  bad('brand', '""', 'too_short'),
  ...each('brand', 'invalid_format', [...BLANKS, ...CONTROLS, ...SURROGATES]),
  ...each('brand', 'too_long', [repeated(201), repeated(201, '😀')]),
  ...wrongTypes('gtin', 'string', 'null'),
  bad('gtin', '""', 'too_short'),
  ...each('gtin', 'invalid_type', list`4006381333931  96385074`),
  ...each('gtin', 'invalid_format', NO_GTINS.map(text)),
  ...wrongTypes('group', 'string', 'null'),
  bad('group', '""', 'too_short'),
  bad('group', repeated(65), 'too_long'),
  ...each('group', 'invalid_format', list`"a b"  "é"  "a/b"  "a\n"  " a"  "a,b"  "a|b"  "\u212a"`),
  ...each('stock', 'invalid_type', list`true  "1"  "x"  []  {}  1.5  0.1`),
  ...each('stock', 'out_of_range', list`-1  -1e2  9007199254740992  1e16  1e400`),
];

const products: BadRecords = {
  plural: 'products',
  valid: { name: '"Lamp"' },
  values: [
    ...badNames,
    ...wrongTypes('description', 'string', 'null'),
    bad('description', repeated(5_001), 'too_long'),
    ...each('description', 'invalid_format', list`"\u0001"  "\u000b"  "\u000c"  "\u0000"  "\u007f"`),
    ...each('description', 'invalid_format', SURROGATES),
    ...wrongTypes('sku', 'string', 'null'),
    bad('sku', '""', 'too_short'),
    bad('sku', repeated(65), 'too_long'),
    bad('sku', text(` ${'x'.repeat(64)}`), 'too_long', 'invalid_format'),
    ...each('sku', 'invalid_format', list`"a b"  "é"  "a/b"  "a\n"  " a"  "a,b"  "a:b"  "\u212a"`),
    ...wrongTypes('price', 'object', 'null'),
    bad('price', '{}', ...issues`required /price/amount  required /price/currency`),
    bad('price', '{"amount":1}', ['required', '/price/currency']),
    bad('price', '{"currency":"EUR"}', ['required', '/price/amount']),
    bad('price', '{"amount":1,"currency":"EUR","tax":1}', ['unknown_field', '/price/tax']),
    ...badAmounts('invalid_type', list`"1"  true  [1]  {}  1.5  1e-2  0.1`),
    // The nearest double of each is an integer.
    ...badAmounts('invalid_type', list`9007199254740991.4  4503599627370497.2  0.99999999999999999  1.0E-400`),
    ...badAmounts('invalid_type', list`100.00000000000000001`),
    bad('price', price('-0.5', '"EUR"'), ...issues`invalid_type /price/amount  out_of_range /price/amount`),
    ...badAmounts('out_of_range', list`-1  -1e2  9007199254740992  9007199254740993  1e16  1e400  -1e400`),
    ...badCurrencies('invalid_type', list`7  true  []`),
    ...badCurrencies('too_short', ['""']),
    ...badCurrencies('invalid_format', list`"eur"  "EU"  "EURO"  "E1R"  " EUR"  "EUR\n"  "ÄÖÜ"  "\u212aRW"`),
    ...wrongTypes('attributes', 'object', 'null'),
    bad('attributes', MANY_KEYS, 'too_long'),
    badKey('""', 'too_short', ''),
    badKey(text(LONG_KEY), 'too_long', LONG_KEY),
    badKey('"a\\nb"', 'invalid_format', 'a\nb'),
    badKey('"\\u0000"', 'invalid_format', '\0'),
    bad(
      'attributes',
      `{"":1,"${LONG_KEY}":1,"a\\n":1}`,
      ['too_short', '/attributes/'],
      ['too_long', `/attributes/${LONG_KEY}`],
      ['invalid_format', '/attributes/a\n'],
    ),
    ...badAttributes('invalid_type', list`[]  {}  ["x"]  {"$ne":1}`),
    ...badAttributes('too_long', [repeated(501)]),
    ...badAttributes('invalid_format', [...CONTROLS, ...SURROGATES, '"\\u0007"']),
    ...badAttributes('out_of_range', list`9007199254740992  -9007199254740993  1e300  1e400`),
    bad(
      'attributes',
      '{"a":9007199254740993,"b":-1e309,"c":1e300}',
      ...issues`out_of_range /attributes/a  out_of_range /attributes/b  out_of_range /attributes/c`,
    ),
    bad(
      'attributes',
      `{"a/b~":[],"o":{},"s":${repeated(501)},"c":"\\u0007"}`,
      ...issues`invalid_type /attributes/a~1b~0  invalid_type /attributes/o`,
      ...issues`too_long /attributes/s  invalid_format /attributes/c`,
    ),
    ...badDetails,
    ...others,
  ],
};

const ADDRESSES = [
  ...list`a  @  a@  @b  a@@b  a b@c  a@b c  a@b..c  a@-b  a@b-  a@b_c  a@.b  a@b.  é@b`,
  ...list`a@é  a,b@c  a;b@c  <a@b>  "a"@b  a@[127.0.0.1]  a@b:1  a(x)@b  a\@b`,
  ...['a@b\n', '\na@b', 'a@b\0', 'a\u007f@b', `a@${'b'.repeat(64)}`],
];
const users: BadRecords = {
  plural: 'users',
  valid: { name: '"Ada"', email: '"bad-NUMBER@example.com"' },
  values: [
    ...badNames,
    ...wrongTypes('email', 'string'),
    bad('email', '""', 'too_short'),
    ...each('email', 'invalid_format', [...ADDRESSES.map(text), ...SURROGATES]),
    bad('email', text(`${'a'.repeat(250)}@b.cc`), 'too_long'),
    ...others,
  ],
};

const item = (productId: string, quantity: string) => `{"productId":${productId},"quantity":${quantity}}`;
const badItem = (json: string, code: string, member: string) => bad('items', `[${json}]`, [code, `/items/0/${member}`]);
const INTEGERS: readonly Issue[] = [
  ...list`"1"  null  true  []  {}  1.5`.map((json) => ['invalid_type', json] as const),
  ...list`0  -1  -0  9007199254740992  1e400`.map((json) => ['out_of_range', json] as const),
];

/** The first user and product have the id 1. */
const orders: BadRecords = {
  plural: 'orders',
  valid: { userId: '1', items: `[${item('1', '1')}]` },
  values: [
    ...INTEGERS.map(([code, json]) => bad('userId', json, code)),
    bad('userId', '9007199254740991', 'reference_not_found'),
    ...wrongTypes('items', 'array'),
    bad('items', '[]', 'too_short'),
    ...list`null  true  7  "x"  []`.map((json) => bad('items', `[${json}]`, ['invalid_type', '/items/0'])),
    bad('items', '[{}]', ...issues`required /items/0/productId  required /items/0/quantity`),
    ...INTEGERS.map(([code, json]) => badItem(item(json, '1'), code, 'productId')),
    ...INTEGERS.map(([code, json]) => badItem(item('1', json), code, 'quantity')),
    badItem(item('1', '1000001'), 'out_of_range', 'quantity'),
    badItem(item('9007199254740991', '1'), 'reference_not_found', 'productId'),
    badItem('{"productId":1,"quantity":1,"price":1}', 'unknown_field', 'price'),
    bad('items', `[${item('1', '1')},${item('1', '2')}]`, ['duplicate_value', '/items/1/productId']),
    bad('items', `[${item('1', '1')},${item('1.0', '2')}]`, ['duplicate_value', '/items/1/productId']),
    ...others,
  ],
};

export const TOO_MANY_ITEMS = `[${Array.from({ length: 101 }, (_, at) => item(`${at + 1}`, '1')).join()}]`;
export const BAD_RECORDS = [products, users, orders] as const;

/** Products with issues at several members, in the order of the response. */
export const BAD_PRODUCTS: readonly (readonly [body: string, issues: readonly Issue[]])[] = [
  ['{}', issues`required /name`],
  ['{"name":"x","sku":7,"price":[]}', issues`invalid_type /sku  invalid_type /price`],
  [
    '{"id":1,"version":1,"createdAt":"x","updatedAt":"x","name":"x"}',
    issues`read_only_field /id  read_only_field /version  read_only_field /createdAt  read_only_field /updatedAt`,
  ],
  [
    '{"id":7,"name":" ","sku":"ä","price":{"amount":-1},"colour":"red"}',
    issues`read_only_field /id  invalid_format /name  invalid_format /sku  out_of_range /price/amount
      required /price/currency  unknown_field /colour`,
  ],
];

/** JSON of a name that is arrays in arrays. */
export const deep = (depth: number) => `{"name":${'['.repeat(depth - 1)}1${']'.repeat(depth - 1)}}`;
const inName = (bytes: Buffer) => Buffer.concat([Buffer.from('{"name":"'), bytes, Buffer.from('"}')]);

/** Bodies that are no JSON text, or one on which readers disagree. Each is 400 `malformed_json`. */
export const MALFORMED: readonly (string | Buffer)[] = [
  ...list`{  }  {"name"}  {"name":}  {"name":"a",}  {,"name":"a"}  {'name':'a'}  {name:"a"}  {"name":a}`,
  ...list`{"name":"a"}x  {"name":"a"} x  {"name":"a"}{}  {"name":"a"},`,
  ...['{"name":"a"}\0', '\ufeff{"name":"a"}', '\u00a0{"name":"a"}'],
  ...list`{"name":01}  {"name":.1}  {"name":1.}  {"name":+1}  {"name":0x1}  {"name":1e}  {"name":-}`,
  ...list`{"name":"a","price":{"amount":01,"currency":"EUR"}}`,
  ...list`{"name":NaN}  {"name":Infinity}  {"name":undefined}  {"name":True}  {"name":nul}`,
  ...list`{"name":"a  {"name":"a"  {"name":"\x"}  {"name":"\u12"}  {"name":"\uzzzz"}  {"name":"\"}`,
  ...['{"name":"a\tb"}', '{"name":"a\u0001b"}', '// x\n{}'],
  ...list`{"name":"a"/**/}  {"name":"a" "sku":"b"}  {"name":["a"}  [1,]  [,1]  {"a":1]`,
  ...list`{"name":"a","name":"b"}  {"name":"a","name":"a"}  {"name":"a","\u006eame":"a"}`,
  ...list`{"price":{"amount":1,"amount":1}}  {"name":"a","attributes":{"a":1,"b":[{"c":1}],"a":2}}`,
  ...list`{"name":"a","__proto__":{}}  {"name":"a","__proto__":{"sku":"x"}}  {"attributes":{"__proto__":1}}`,
  ...list`{"name":"a","\u005f_proto__":1}  {"name":"a","attributes":{"\u005f_proto__":1}}  {"a":[{"__proto__":1}]}`,
  ...['['.repeat(21) + ']'.repeat(21), `${'{"a":'.repeat(21)}1${'}'.repeat(21)}`, deep(21), deep(100_000)],
  ...list`c328  ff  c0af  eda080  f4908080  e28d  80`.map((hex) => inName(Buffer.from(hex, 'hex'))),
  ...['22c0af22', '22eda08022'].map((hex) => Buffer.from(hex, 'hex')),
  Buffer.from('{"name":"a"}', 'utf16le'),
];

/** Well-formed JSON that is no object: `invalid_type` at the whole document. */
export const NO_OBJECTS = list`null  true  7  "x"  []  [{"name":"a"}]  -0  1e400  ""`;

/** The media types of bodies that only a creation in JSON is not. */
export const OTHER_TYPES = [
  '',
  ...list`text/plain  application/xml  application/x-ndjson  text/csv  application/x-www-form-urlencoded`,
  ...list`multipart/form-data; boundary=x  application/jsonx  application/json-patch+json`,
  ...list`application/json; charset=utf-16  application/json; charset=latin1  application/json; charset=bogus`,
  ...list`application/json; charset  application/json; charset=utf-8; charset=latin1  application/json; x`,
];

/** JSON Patches that are malformed or cannot be applied, with the code and pointer of their only detail. */
export const BAD_PATCHES: readonly (readonly [patch: string, detail: Issue])[] = [
  ['{}', ['invalid_type', '']],
  ['7', ['invalid_type', '']],
  ['[7]', ['invalid_type', '/0']],
  ['[null]', ['invalid_type', '/0']],
  ['[{"path":"/name","value":"a"}]', ['required', '/0/op']],
  ['[{"op":7,"path":"/name","value":"a"}]', ['invalid_type', '/0/op']],
  ...list`merge  ADD  constructor`.map(
    (op) => [`[{"op":"${op}","path":"/name","value":"a"}]`, ['invalid_format', '/0/op']] as const,
  ),
  ['[{"op":"add","value":"a"}]', ['required', '/0/path']],
  ['[{"op":"add","path":7,"value":"a"}]', ['invalid_type', '/0/path']],
  ['[{"op":"add","path":"name","value":"a"}]', ['invalid_format', '/0/path']],
  ['[{"op":"add","path":"/a~2b","value":"a"}]', ['invalid_format', '/0/path']],
  ['[{"op":"add","path":"/name"}]', ['required', '/0/value']],
  ['[{"op":"move","path":"/name"}]', ['required', '/0/from']],
  ['[{"op":"copy","path":"/sku","from":"name"}]', ['invalid_format', '/0/from']],
  ['[{"op":"remove","path":"/absent"}]', ['reference_not_found', '/0/path']],
  ['[{"op":"remove","path":""}]', ['reference_not_found', '/0/path']],
  ['[{"op":"replace","path":"/absent","value":1}]', ['reference_not_found', '/0/path']],
  ['[{"op":"add","path":"/absent/deep","value":1}]', ['reference_not_found', '/0/path']],
  ['[{"op":"add","path":"/name/0","value":1}]', ['reference_not_found', '/0/path']],
  ['[{"op":"add","path":"/constructor/prototype/x","value":1}]', ['reference_not_found', '/0/path']],
  ['[{"op":"replace","path":"/toString","value":1}]', ['reference_not_found', '/0/path']],
  ['[{"op":"copy","path":"/sku","from":"/constructor"}]', ['reference_not_found', '/0/from']],
  ['[{"op":"copy","path":"/sku","from":"/name/length"}]', ['reference_not_found', '/0/from']],
  ['[{"op":"move","path":"/sku","from":"/absent"}]', ['reference_not_found', '/0/from']],
  [`[${Array(1_001).fill('{"op":"test","path":"/name","value":"x"}').join()}]`, ['too_long', '']],
];

export type BadQuery = readonly [query: string, code: string, issues: readonly Issue[]];

/** The issue names the parameter as the query has it. */
const badQueries = (code: string, queries: readonly string[]): BadQuery[] =>
  queries.map((query) => {
    const [last = ''] = query.split('&').slice(-1);
    const name = last.replace(/=.*/s, '').replace('%00', '\0').replace('%6e', 'n');
    return [query, code === 'unknown_parameter' ? code : 'invalid_parameter', [[code, name]]];
  });

/** Queries of a list of products. Each is 400. */
export const BAD_QUERIES: readonly BadQuery[] = [
  ...badQueries('unknown_parameter', [
    ...list`colour=red  Limit=5  =5  nme=x  Name=x  name:eq=x  name:=x  name:like=x  name:NE=x  :ne=x  :=x`,
    ...list`name.eq=x  name.=x  name.NE=x  .ne=x  name:ne:ne=x  name.ne.ne=x  name.ne:ne=x  name:in:=x`,
    ...list`price.ne=1  price:amount=1  price:amount:gt=1  name[ne]=x  name[]=x  limit[]=5  attributes[]=x`,
    ...list`attributes[a][]=x  attributes[a[]=x  attributes[a=x  attributes[a]b=x  attributes[].in=x`,
    ...list`attributes[a].ne=x  attributes[a]:ne=x  attributes[a].prefix=x  attributes[a].all=x  attributes[a].eq=x`,
    ...list`attributes[a].In=x  attributes[a]in=x  attributes[a]..in=x  attributes[a].in.in=x  attributes[a].=x`,
    ...list`attributes[a].lt[]=5  attributes[a].exists[]=true  attributes[a].in[][]=x  attributes[].exists=true`,
    ...list`id.in[][]=1  id[].in=1  sort[0]=id  description=x  price=1  price.=1  price.amount.x=1`,
    ...list`price.amount.prefix=1  id.prefix=1  createdAt.prefix=2  version=1  attributes=x  attributes.=x`,
    ...list`attributes:ne=x  attributes:ne.x=x  attributes:a=x  email=x  userId=1  __proto__=1  __proto__:ne=1`,
    ...list`__proto__.ne=1  __proto__.x=1  constructor=1  constructor:ne=1  name.exists=true  id.exists=true`,
    ...list`createdAt.exists=true  description.exists=true  price.exists=true  version.exists=true`,
    ...list`email.exists=true  q.exists=true  limit.exists=true  .exists=true  name:exists=true`,
    ...list`attributes:exists=true  sku.exists.exists=true  sku:exists.ne=true  sku.Exists=true  exists=true`,
    ...list`name:constructor=x  name:__proto__=x  toString:in=1  hasOwnProperty=1  name%00=x  limit:gt=5`,
    ...list`tags.ne=a  tags:ne=a  tags.lt=a  tags.lte=a  tags.gt=a  tags.gte=a  tags[]=a  tags.all[=a  tags.any=a  tags.0=a`,
    ...list`images=a  images.in=a  images.url=a  images.prefix=a  images.all=a  images.ne=a  images[]=a  images.exists[]=true`,
    ...list`url=https://a  url.prefix=https://  url.in=a  url:ne=a  status.all=draft  brand.all=a  gtin.all=1  group.all=a`,
    ...list`stock.prefix=1  stock.all=1  alt=a  status.exists[]=true  name.all=a  tag=a  Tags=a  TAGS.in=a  tags.In=a`,
    ...list`limit.gt=5  sort:ne=name  sort.in=name  fields.in=name  %=x  attributes.%ff=x`,
  ]),
  ...badQueries('duplicate_value', [
    ...list`name=a&name=b  name=a&%6eame=a  attributes.a=1&attributes.a=1  attributes[a]=1&attributes.a=1`,
    ...list`attributes[a].lt=1&attributes[a]:lt=2  attributes[a].exists=true&attributes[a].exists=true`,
    ...list`sku.exists=true&sku.exists=true  sku.exists=true&sku:exists=false  limit=5&limit=5`,
    ...list`sort=name&sort=-name  price.amount:gte=1&price.amount.gte=1  price.amount.gte=1&price.amount:gte=1`,
    ...list`tags=a&tags=b  tags.prefix=a&tags:prefix=a  tags.exists=true&tags.exists=true  stock=1&stock=1`,
  ]),
  ...badQueries('invalid_type', [
    ...list`id=  id  id=x  id=1.0  id=1e2  id=0x1  id=+1  id=%2B1  id=1%00  id=01  id=--1  id=%EF%BC%91`,
    ...list`stock=  stock=x  stock=1.0  stock=1e2  stock.in=1,x  stock.gt=12%20`,
    ...list`attributes[a].lt=  attributes[a]:lte=x  attributes[a].gt=+1  attributes[a].gte=%2B1  attributes[a].lt=0x1`,
    ...list`attributes[a].lt=1.  attributes[a].lt=.5  attributes[a].lt=01  attributes[a].lt=NaN  attributes[a].lt=1,2`,
    ...list`attributes[a].lt=-Infinity  attributes[a].lt=1%20  attributes[a].lt=true  price.amount:gte=x`,
    ...list`id=Infinity  limit=  limit=1e2  limit=5.0  limit=%205  limit=+5  limit=05`,
  ]),
  ...badQueries('out_of_range', [
    ...list`id.ne=9007199254740992  price.amount=-9007199254740992  limit=0  limit=1001`,
    ...list`attributes[a].gt=1e999  attributes[a].lt=-1e309`,
    ...list`limit=99999999999999999999  limit=-5`,
    `price.amount=${'9'.repeat(400)}`,
  ]),
  ...badQueries(
    'too_short',
    list`attributes[a].in=  attributes[a]:in=x,,y  id.in=  id.in=1,  name.in=,a  name.in=a,,b  createdAt.in=2024-01-01T00:00:00Z,
      tags.in=  tags.all=  tags.all=a,,b  tags:all=a,  sort=name&sort=  sort=&sort=name  fields=id&fields=  id.in=1&id.in=
      id.in=1,&id.in=2`,
  ),
  ...badQueries(
    'too_long',
    ['name.in', 'tags.in', 'tags.all', 'tags:all', 'attributes[a].in'].map((name) => `${name}=${'a,'.repeat(100)}a`),
  ),
  ...badQueries('invalid_format', [
    ...list`sku.exists=  sku.exists=TRUE  sku.exists=1  sku.exists=yes  sku.exists=null  sku.exists=+true`,
    ...list`attributes[a].exists=  attributes[a]:exists=1  attributes[a].exists=true,false  attributes[a].in=%ff`,
    ...list`tags.exists=  tags.exists=1  images.exists=yes  url.exists=TRUE  status.exists=draft  stock:exists=0  tags=%ff`,
    ...list`sku.exists=true,false  sku.exists=%74ru  sku.exists  price.amount:exists=0  createdAt=`,
    ...list`createdAt.gt=2024-01-01  createdAt=1700000000000  updatedAt.lt=2023-02-29T00:00:00Z`,
    ...list`createdAt=2024-01-01T00:00:00+02:00  name=%ff  name=%ed%a0%80  name=%  limit=%ff`,
    ...list`sort=name&sort=%ff  fields[]=%ff`,
  ]),
  ...badQueries('unknown_field', list`sort=name&sort=tags  fields=id&fields=x`),
  // A list has the name without brackets, and the spelling that came first.
  ['id.in[]=1&id.in[]=', 'invalid_parameter', issues`too_short id.in`],
  ['id.in[]=x', 'invalid_parameter', issues`invalid_type id.in`],
  ['sort[]=x', 'invalid_parameter', issues`unknown_field sort`],
  ['id.in=1&id:in', 'invalid_parameter', issues`too_short id.in`],
  ['id:in=1&id.in=x', 'invalid_parameter', issues`invalid_type id:in`],
  ['createdAt%3Agt=x', 'invalid_parameter', issues`invalid_format createdAt:gt`],
  [
    'id.in=1&sort=name&id:ne=x&id.in=x,&colour=red&id.ne=1&sort=tags,name&name=%ff&colour=red&limit=0',
    'invalid_parameter',
    issues`invalid_type id.in  too_short id.in  unknown_field sort  duplicate_value sort  invalid_type id:ne
      unknown_parameter colour  duplicate_value id.ne  invalid_format name  unknown_parameter colour  out_of_range limit`,
  ],
  ['cursor=x', 'invalid_cursor', issues`invalid_format cursor`],
  ['access_token=x&order=name', 'unknown_parameter', issues`unknown_parameter access_token  unknown_parameter order`],
  ['limit=5&limit=5&x=1', 'invalid_parameter', issues`duplicate_value limit  unknown_parameter x`],
  [
    'id.in=1,x,,9007199254740992,y',
    'invalid_parameter',
    issues`invalid_type id.in  too_short id.in  out_of_range id.in`,
  ],
  [
    'limit=0&colour=red&cursor=x',
    'invalid_parameter',
    issues`out_of_range limit  unknown_parameter colour  invalid_format cursor`,
  ],
  [
    'id=x&colour=red&createdAt=now&name.in=&sort=tags&limit=0&cursor=x&fields=x',
    'invalid_parameter',
    issues`invalid_type id  unknown_parameter colour  invalid_format createdAt  too_short name.in
      unknown_field sort  out_of_range limit  invalid_format cursor  unknown_field fields`,
  ],
];
