/** One value that breaks the rules of a field, in JSON, with the code and the pointer of each issue. */
export interface BadValue {
  /** The member of the record. */
  readonly member: string;
  /** JSON, perhaps of a value that JavaScript lacks. */
  readonly json: string;
  readonly issues: readonly Issue[];
}

export type Issue = readonly [code: string, pointer: string];

/** A resource with valid records and bad values. */
export interface BadRecords {
  readonly plural: 'products' | 'users' | 'orders';
  /** The required members, in JSON. */
  readonly valid: Readonly<Record<string, string>>;
  readonly values: readonly BadValue[];
}

const bad = (member: string, json: string, ...codes: (string | Issue)[]): BadValue => ({
  member,
  json,
  issues: codes.map((one): Issue => (typeof one === 'string' ? [one, `/${member}`] : one)),
});
const text = (value: string) => JSON.stringify(value);
const repeated = (length: number, of = 'x') => text(of.repeat(length));

/** Values of every type. Null is a value that an optional field may have. */
const TYPES: Readonly<Record<string, string>> = {
  null: 'null',
  boolean: 'true',
  number: '7',
  string: '"x"',
  array: '[]',
  object: '{}',
};
const wrongTypes = (member: string, ...right: string[]) =>
  Object.keys(TYPES)
    .filter((type) => !right.includes(type))
    .map((type) => bad(member, TYPES[type] ?? '', 'invalid_type'));

/** Characters that no text of one line has. */
const CONTROLS = ['"a\\u0000"', '"a\\n"', '"\\r"', '"a\\tb"', '"\\u001f"', '"a\\u007f"'];
const SURROGATES = ['"a\\ud800"', '"\\udc00a"', '"\\ude00\\ud83d"'];

function badNames(member = 'name'): BadValue[] {
  return [
    ...wrongTypes(member, 'string'),
    bad(member, '""', 'too_short'),
    ...['" "', '"\\u3000\\u2003"', '"\\ufeff"', '"\\u0085"', ...CONTROLS, ...SURROGATES].map((json) =>
      bad(member, json, 'invalid_format'),
    ),
    bad(member, repeated(201), 'too_long'),
    bad(member, repeated(201, '😀'), 'too_long'),
    bad(member, repeated(201, '\u0001').replaceAll('"', '"'), 'too_long', 'invalid_format'),
  ];
}

const unknown = [
  'colour',
  'Name',
  ' name',
  'constructor',
  'toString',
  'prototype',
  '$set',
  'a.b',
  'fields',
].map((member) => bad(member, '"x"', 'unknown_field'));
const readOnly = [
  bad('id', '8999', 'read_only_field'),
  bad('version', '7', 'read_only_field'),
  bad('createdAt', '"2020-01-01T00:00:00.000Z"', 'read_only_field'),
  bad('updatedAt', '"2020-01-01T00:00:00.000Z"', 'read_only_field'),
];

const price = (amount: string, currency: string) => `{"amount":${amount},"currency":${currency}}`;
const badAmount = (json: string, code: string) => bad('price', price(json, '"EUR"'), [code, '/price/amount']);
const badCurrency = (json: string, code: string) => bad('price', price('1', json), [code, '/price/currency']);
const badAttribute = (json: string, code: string) =>
  bad('attributes', `{"a/b~c":${json}}`, [code, '/attributes/a~1b~0c']);
const badKey = (json: string, code: string, key: string) =>
  bad('attributes', `{${json}:1}`, [code, `/attributes/${key}`]);
const LONG_KEY = 'k'.repeat(65);
const MANY_KEYS = JSON.stringify(Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`k${at}`, at])));

const products: BadRecords = {
  plural: 'products',
  valid: { name: '"Lamp"' },
  values: [
    ...badNames(),
    ...wrongTypes('description', 'string', 'null'),
    bad('description', repeated(5_001), 'too_long'),
    ...['"\\u0001"', '"\\u000b"', '"\\u000c"', '"\\u0000"', '"\\u007f"', ...SURROGATES].map((json) =>
      bad('description', json, 'invalid_format'),
    ),
    ...wrongTypes('sku', 'string', 'null'),
    bad('sku', '""', 'too_short'),
    bad('sku', repeated(65), 'too_long'),
    ...['"a b"', '"é"', '"a/b"', '"a\\n"', '" a"', '"a,b"', '"a:b"', '"\\u212a"'].map((json) =>
      bad('sku', json, 'invalid_format'),
    ),
    ...wrongTypes('price', 'object', 'null'),
    bad('price', '{}', ['required', '/price/amount'], ['required', '/price/currency']),
    bad('price', '{"amount":1}', ['required', '/price/currency']),
    bad('price', '{"currency":"EUR"}', ['required', '/price/amount']),
    bad('price', '{"amount":1,"currency":"EUR","tax":1}', ['unknown_field', '/price/tax']),
    ...['"1"', 'true', '[1]', '{}', '1.5', '1e-2', '0.1'].map((json) => badAmount(json, 'invalid_type')),
    // The nearest double of each is an integer.
    ...[
      '9007199254740991.4',
      '4503599627370497.2',
      '0.99999999999999999',
      '1.0E-400',
      '100.00000000000000001',
    ].map((json) => badAmount(json, 'invalid_type')),
    bad(
      'price',
      price('-0.5', '"EUR"'),
      ['invalid_type', '/price/amount'],
      ['out_of_range', '/price/amount'],
    ),
    ...['-1', '-1e2', '9007199254740992', '9007199254740993', '1e16', '1e400', '-1e400'].map((json) =>
      badAmount(json, 'out_of_range'),
    ),
    ...['7', 'true', '[]'].map((json) => badCurrency(json, 'invalid_type')),
    badCurrency('""', 'too_short'),
    ...['"eur"', '"EU"', '"EURO"', '"E1R"', '" EUR"', '"EUR\\n"', '"ÄÖÜ"', '"\\u212aRW"'].map((json) =>
      badCurrency(json, 'invalid_format'),
    ),
    ...wrongTypes('attributes', 'object', 'null'),
    bad('attributes', MANY_KEYS, 'too_long'),
    badKey('""', 'too_short', ''),
    badKey(text(LONG_KEY), 'too_long', LONG_KEY),
    badKey('"a\\nb"', 'invalid_format', 'a\nb'),
    badKey('"\\u0000"', 'invalid_format', '\0'),
    ...['[]', '{}', '["x"]', '{"$ne":1}'].map((json) => badAttribute(json, 'invalid_type')),
    badAttribute(repeated(501), 'too_long'),
    ...[...CONTROLS, ...SURROGATES].map((json) => badAttribute(json, 'invalid_format')),
    ...['9007199254740992', '-9007199254740993', '1e300', '1e400'].map((json) =>
      badAttribute(json, 'out_of_range'),
    ),
    ...unknown,
    ...readOnly,
  ],
};

const users: BadRecords = {
  plural: 'users',
  valid: { name: '"Ada"', email: '"bad-NUMBER@example.com"' },
  values: [
    ...badNames(),
    ...wrongTypes('email', 'string'),
    bad('email', '""', 'too_short'),
    ...[
      ...[
        'a',
        '@',
        'a@',
        '@b',
        'a@@b',
        'a b@c',
        'a@b c',
        'a@b..c',
        'a@-b',
        'a@b-',
        'a@b_c',
        'a@.b',
        'a@b.',
        'é@b',
      ],
      ...[
        'a@é',
        'a@b\n',
        '\na@b',
        'a,b@c',
        'a;b@c',
        '<a@b>',
        '"a"@b',
        'a@[127.0.0.1]',
        'a@b:1',
        'a(x)@b',
        'a\\@b',
      ],
      ...['a@b\0', 'a\u007f@b', `a@${'b'.repeat(64)}`],
    ].map((address) => bad('email', text(address), 'invalid_format')),
    ...SURROGATES.map((json) => bad('email', json, 'invalid_format')),
    bad('email', text(`${'a'.repeat(250)}@b.cc`), 'too_long'),
    ...unknown,
    ...readOnly,
  ],
};

const item = (productId: string, quantity: string) => `{"productId":${productId},"quantity":${quantity}}`;
const badItem = (json: string, code: string, member: string) =>
  bad('items', `[${json}]`, [code, `/items/0/${member}`]);
const INTEGERS: readonly (readonly [string, string])[] = [
  ...['"1"', 'null', 'true', '[]', '{}', '1.5'].map((json) => [json, 'invalid_type'] as const),
  ...['0', '-1', '-0', '9007199254740992', '1e400'].map((json) => [json, 'out_of_range'] as const),
];
const MANY_ITEMS = `[${Array.from({ length: 101 }, (_, at) => item(`${at + 1}`, '1')).join()}]`;

/** The first user and product have the id 1. */
const orders: BadRecords = {
  plural: 'orders',
  valid: { userId: '1', items: `[${item('1', '1')}]` },
  values: [
    ...INTEGERS.map(([json, code]) => bad('userId', json, code)),
    bad('userId', '9007199254740991', 'reference_not_found'),
    ...wrongTypes('items', 'array'),
    bad('items', '[]', 'too_short'),
    ...['null', 'true', '7', '"x"', '[]'].map((json) =>
      bad('items', `[${json}]`, ['invalid_type', '/items/0']),
    ),
    bad('items', '[{}]', ['required', '/items/0/productId'], ['required', '/items/0/quantity']),
    ...INTEGERS.map(([json, code]) => badItem(item(json, '1'), code, 'productId')),
    ...INTEGERS.map(([json, code]) => badItem(item('1', json), code, 'quantity')),
    badItem(item('1', '1000001'), 'out_of_range', 'quantity'),
    badItem(item('9007199254740991', '1'), 'reference_not_found', 'productId'),
    badItem('{"productId":1,"quantity":1,"price":1}', 'unknown_field', 'price'),
    bad('items', `[${item('1', '1')},${item('1', '2')}]`, ['duplicate_value', '/items/1/productId']),
    bad('items', `[${item('1', '1')},${item('1.0', '2')}]`, ['duplicate_value', '/items/1/productId']),
    ...unknown,
    ...readOnly,
  ],
};

export const TOO_MANY_ITEMS = MANY_ITEMS;
export const BAD_RECORDS: readonly BadRecords[] = [products, users, orders];

const deep = (depth: number) => '[1]'.replace('1', '['.repeat(depth - 1) + ']'.repeat(depth - 1));

/** Bodies that are no JSON text, or one on which readers disagree. Each is 400 `malformed_json`. */
export const MALFORMED: readonly (string | Buffer)[] = [
  ...[
    '{',
    '}',
    '{"name"}',
    '{"name":}',
    '{"name":"a",}',
    '{,"name":"a"}',
    "{'name':'a'}",
    '{name:"a"}',
    '{"name":a}',
  ],
  ...[
    '{"name":"a"}x',
    '{"name":"a"}{}',
    '{"name":"a"},',
    '{"name":"a"}\0',
    '\ufeff{"name":"a"}',
    '\u00a0{"name":"a"}',
  ],
  ...[
    '{"name":01}',
    '{"name":.1}',
    '{"name":1.}',
    '{"name":+1}',
    '{"name":0x1}',
    '{"name":1e}',
    '{"name":-}',
  ],
  ...['{"name":NaN}', '{"name":Infinity}', '{"name":undefined}', '{"name":True}', '{"name":nul}'],
  ...[
    '{"name":"a',
    '{"name":"\\x"}',
    '{"name":"\\u12"}',
    '{"name":"\\uzzzz"}',
    '{"name":"a\tb"}',
    '{"name":"\\"}',
  ],
  ...['{"name":"a"/**/}', '// x\n{}', '{"name":"a" "sku":"b"}', '{"name":["a"}', '[1,]', '[,1]', '{"a":1]'],
  ...['{"name":"a","name":"b"}', '{"name":"a","\\u006eame":"a"}', '{"price":{"amount":1,"amount":1}}'],
  ...['{"name":"a","__proto__":{}}', '{"attributes":{"__proto__":1}}', '{"name":"a","\\u005f_proto__":1}'],
  ...['{"a":[{"__proto__":1}]}', deep(21), `${'{"a":'.repeat(21)}1${'}'.repeat(21)}`],
  ...['c328', 'ff', 'c0af', 'eda080', 'f4908080', 'e28d', '80'].map((hex) =>
    Buffer.concat([Buffer.from('{"name":"'), Buffer.from(hex, 'hex'), Buffer.from('"}')]),
  ),
  Buffer.from('{"name":"a"}', 'utf16le'),
];

/** Well-formed JSON that is no object: `invalid_type` at the whole document. */
export const NO_OBJECTS: readonly string[] = [
  'null',
  'true',
  '7',
  '"x"',
  '[]',
  '[{"name":"a"}]',
  '-0',
  '1e400',
  '""',
];

/** JSON Patches that are malformed or cannot be applied, with the code and pointer of their only detail. */
export const BAD_PATCHES: readonly (readonly [patch: string, detail: Issue | undefined])[] = [
  ['{}', ['invalid_type', '']],
  ['7', ['invalid_type', '']],
  ['[7]', ['invalid_type', '/0']],
  ['[null]', ['invalid_type', '/0']],
  ['[{"path":"/name","value":"a"}]', ['required', '/0/op']],
  ['[{"op":7,"path":"/name","value":"a"}]', ['invalid_type', '/0/op']],
  ['[{"op":"merge","path":"/name","value":"a"}]', ['invalid_format', '/0/op']],
  ['[{"op":"ADD","path":"/name","value":"a"}]', ['invalid_format', '/0/op']],
  ['[{"op":"constructor","path":"/name","value":"a"}]', ['invalid_format', '/0/op']],
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

/** CSV that is refused as a whole, with the details of the refusal. */
export const BAD_HEADERS: readonly (readonly [csv: string, code: string, details: readonly Issue[]])[] = [
  ['', 'malformed_csv', []],
  ['\r\n\r\n', 'malformed_csv', []],
  ['"name\nx\n', 'malformed_csv', []],
  ['name"x\nx\n', 'malformed_csv', []],
  ['sku\nx\n', 'validation_failed', [['required', '/name']]],
  ['name,name\na,b\n', 'validation_failed', [['duplicate_value', '/name']]],
  ['name,colour\na,b\n', 'validation_failed', [['unknown_field', '/colour']]],
  ['name,Name\na,b\n', 'validation_failed', [['unknown_field', '/Name']]],
  ['name, sku\na,b\n', 'validation_failed', [['unknown_field', '/ sku']]],
  ['name,price.decimal\na,1\n', 'validation_failed', [['required', '/price.currency']]],
  [
    'name,price.decimal,price.amount,price.currency\na,1,1,EUR\n',
    'validation_failed',
    [['duplicate_value', '/price.decimal']],
  ],
  ['name,attributes[a]:text\na,1\n', 'validation_failed', [['unknown_field', '/attributes[a]:text']]],
  [
    'name;sku\na;b\n',
    'validation_failed',
    [
      ['unknown_field', '/name;sku'],
      ['required', '/name'],
    ],
  ],
  ['id,name\n1,a\n', 'validation_failed', [['read_only_field', '/id']]],
  [
    'name,version,createdAt,updatedAt\na,1,x,x\n',
    'validation_failed',
    [
      ['read_only_field', '/version'],
      ['read_only_field', '/createdAt'],
      ['read_only_field', '/updatedAt'],
    ],
  ],
  ['name,attributes,attributes.a\na,{},b\n', 'validation_failed', [['duplicate_value', '/attributes']]],
  ['name,attributes.a,attributes.a\na,b,c\n', 'validation_failed', [['duplicate_value', '/attributes.a']]],
  ['name,attributes.__proto__\na,b\n', 'validation_failed', [['invalid_format', '/attributes.__proto__']]],
  ['name,price\na,1\n', 'validation_failed', [['unknown_field', '/price']]],
  ['name,price.tax\na,1\n', 'validation_failed', [['unknown_field', '/price.tax']]],
  ['name,constructor\na,1\n', 'validation_failed', [['unknown_field', '/constructor']]],
];

/** Records under the header `name,sku,price.amount,price.currency,attributes`, with the code of the result. */
export const BAD_RECORDS_OF_CSV: readonly (readonly [
  record: string,
  code: string,
  details: readonly Issue[],
])[] = [
  ['a', 'malformed_csv', []],
  ['a,b,1,EUR', 'malformed_csv', []],
  ['a,b,1,EUR,{},x', 'malformed_csv', []],
  ['a"b,,,,', 'malformed_csv', []],
  ['"a"b,,,,', 'malformed_csv', []],
  ['a\rb,,,,', 'malformed_csv', []],
  ['"",,,,', 'validation_failed', [['too_short', '/name']]],
  ['a,"",,,', 'validation_failed', [['too_short', '/sku']]],
  ['a, b,,,', 'validation_failed', [['invalid_format', '/sku']]],
  ['a,,1,,', 'validation_failed', [['required', '/price/currency']]],
  ['a,,,EUR,', 'validation_failed', [['required', '/price/amount']]],
  ['a,, 1,EUR,', 'validation_failed', [['invalid_type', '/price/amount']]],
  ['a,,1.5,EUR,', 'validation_failed', [['invalid_type', '/price/amount']]],
  ['a,,1.00,EUR,', 'validation_failed', [['invalid_type', '/price/amount']]],
  ['a,,1e2,EUR,', 'validation_failed', [['invalid_type', '/price/amount']]],
  ['a,,01,EUR,', 'validation_failed', [['invalid_type', '/price/amount']]],
  ['a,,0x1,EUR,', 'validation_failed', [['invalid_type', '/price/amount']]],
  ['a,,NaN,EUR,', 'validation_failed', [['invalid_type', '/price/amount']]],
  ['a,,-1,EUR,', 'validation_failed', [['out_of_range', '/price/amount']]],
  ['a,,"9,007",EUR,', 'validation_failed', [['invalid_type', '/price/amount']]],
  ['a,,9007199254740993,EUR,', 'validation_failed', [['out_of_range', '/price/amount']]],
  ['a,,1,eur,', 'validation_failed', [['invalid_format', '/price/currency']]],
  ['a,,,,x', 'malformed_json', [['invalid_format', '/attributes']]],
  ['a,,,,"{""a"":1,""a"":2}"', 'malformed_json', [['invalid_format', '/attributes']]],
  ['a,,,,"{""__proto__"":1}"', 'malformed_json', [['invalid_format', '/attributes']]],
  ['a,,,,[]', 'validation_failed', [['invalid_type', '/attributes']]],
];
