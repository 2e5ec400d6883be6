import { expect } from 'chai';
import fc from 'fast-check';
import { parseBody, parseStrictJson, positionAfter } from '#src/adapters/inbound/http/body/strict-json.js';

const MANY = 1_500;
const members = (count: number, more = '') =>
  `{${Array.from({ length: count }, (_, i) => `"m${i}":${i % 7 === 0 ? '[{"a":"\\"b\\":"},{}]' : i}`).join(',')}${more}}`;

describe('parseStrictJson, given many members,', () => {
  const parse = (text: string) => parseStrictJson(Buffer.from(text));

  it('parses all of them', () => {
    expect(Object.keys(parse(members(MANY)) as object)).to.have.length(MANY);
    expect(parse(`[${members(MANY)},${members(MANY)}]`)).to.have.length(2);
  });

  it('rejects a duplicate member, even if its name is escaped or nested', () => {
    for (const more of [',"m1":0', `,"\\u006d${MANY - 1}":1`, ',"x":[{"y":{"z":1,"z":1}}]'])
      expect(() => parse(members(MANY, more)), more).to.throw('twice in one object');
  });

  it('rejects a member __proto__ at any depth', () => {
    for (const more of [',"__proto__":0', ',"\\u005f_proto__":{}', ',"x":[{"y":{"__proto__":1}}]'])
      expect(() => parse(members(MANY, more)), more).to.throw('__proto__');
  });
});

describe('parseBody, given numbers,', () => {
  const parse = (text: string) => parseBody(Buffer.from(text));

  it('reads integers and fractions as JSON.parse does', () => {
    for (const text of [
      ...['100.0', '1.00e2', '1e2', '0.0', '-0.0', '0e-5', '10e-1', '1200E-2', '1.5', '-2.25e-3', '1e-2', '0.1'],
      ...['9007199254740991.0', '90071992547409910e-1', '1e400', '5e-324', '9007199254740993', '123e-0'],
      '{"a":[1.5,{"b":-0.5}],"-1.00000000000000000001":"2.00000000000000000001"}',
      '["\\"1.00000000000000000001",-1.5]',
    ])
      expect(parse(text), text).to.deep.equal(JSON.parse(text));
  });

  it('replaces those that would be rounded to an integer by an empty array', () => {
    const cases: [text: string, value: unknown][] = [
      ['9007199254740991.4', []],
      ['0.99999999999999999', []],
      ['-1.00000000000000000001', []],
      ['99999999999999999999e-20', []],
      ['1e-400', []],
      ['-0.0000000000001E-400', []],
      [
        '{"a": 1.00000000000000000001 ,"b":[2.5,3.00000000000000000001,4],"c":"5.00000000000000000001"}',
        { a: [], b: [2.5, [], 4], c: '5.00000000000000000001' },
      ],
    ];
    for (const [text, value] of cases) expect(parse(text), text).to.deep.equal(value);
  });

  it('keeps them in attributes, also in those that a JSON Patch sets', () => {
    const rounded = '1.00000000000000000001';
    const cases: [text: string, value: unknown][] = [
      ['{"attributes":{"a":N},"price":{"amount":N}}', { attributes: { a: 1 }, price: { amount: [] } }],
      ['[{"op":"add","path":"/attributes/a","value":N}]', [{ op: 'add', path: '/attributes/a', value: 1 }]],
      ['[{"op":"add","path":"/attributes","value":{"a":N}}]', [{ op: 'add', path: '/attributes', value: { a: 1 } }]],
      [
        '[{"op":"add","path":"","value":{"userId":N,"attributes":{"a":N}}}]',
        [{ op: 'add', path: '', value: { userId: [], attributes: { a: 1 } } }],
      ],
      ['[{"op":"add","path":"/attributesX","value":N}]', [{ op: 'add', path: '/attributesX', value: [] }]],
      ['[{"op":"test","path":"/price/amount","value":N},N]', [{ op: 'test', path: '/price/amount', value: [] }, []]],
    ];
    for (const [text, value] of cases) expect(parse(text.replaceAll('N', rounded)), text).to.deep.equal(value);
  });

  it('agrees with exact arithmetic about any decimal', () => {
    const digits = fc.string({ unit: fc.constantFrom('0', '0', '1', '9'), maxLength: 22 });
    fc.assert(
      fc.property(fc.nat(9), digits, digits, fc.integer({ min: -25, max: 5 }), (first, more, fraction, exponent) => {
        const integer = first === 0 ? '0' : `${first}${more}`;
        const text = `${integer}.${fraction}0e${exponent}`;
        const decimals = fraction.length + 1 - exponent;
        const isInteger = BigInt(`${integer}${fraction}0`) % 10n ** BigInt(Math.max(decimals, 0)) === 0n;
        const isRounded = Number.isInteger(Number(text)) && !isInteger;
        expect(parse(text)).to.deep.equal(isRounded ? [] : Number(text));
      }),
    );
  });
});

describe('positionAfter', () => {
  const PLACES: Readonly<Record<string, readonly string[]>> = {
    '1:1': [''],
    '1:2': ['é', '😀'],
    '1:3': ['ab', '\t\t', '日本', 'e\u0301'],
    '1:4': ['👩‍🚀', '\u2028\u0085x'],
    '2:1': ['a\n', 'a\r\n', 'a\r'],
    '2:4': ['\n  a'],
    '5:1': ['\r\r\n\n\r'],
  };
  for (const [place, texts] of Object.entries(PLACES))
    it(`is ${place} after ${texts.map((text) => JSON.stringify(text)).join(', ')}`, () => {
      for (const text of texts) {
        const { line, column } = positionAfter(text);
        expect(`${line}:${column}`, JSON.stringify(text)).to.equal(place);
      }
    });
});

describe('a message of parseStrictJson', () => {
  for (const [body, message] of [
    ['{\r\n  "name": "Küche 😀",\r\n  "sku": ,\r\n}', 'is not JSON: unexpected character, at line 3, column 10'],
    ['{"name": "日本" "sku": 1}', 'is not JSON: unexpected character, at line 1, column 15'],
    ['{\n"name": "Lamp"\n', 'is not JSON: unexpected end, at line 3, column 1'],
    ['{"name":\n"Lamp",\n\t"name": 1}', 'has the member "name" twice in one object, at line 3, column 2'],
    ['{"é":1,"é":2}', 'has the member "é" twice in one object, at line 1, column 8'],
    ['{"😀":\n{ "__proto__":2}}', 'has a member named __proto__, at line 2, column 3'],
    ['{"a":\n  [1,\n{"\\u005f_proto__":2}]}', 'has a member named __proto__, at line 3, column 2'],
    [`{"ü":\n${'['.repeat(20)}`, 'is nested deeper than 20 levels, at line 2, column 20'],
    ['\ufeff{}', 'begins with a byte order mark, at line 1, column 1'],
    ['\ufeff', 'begins with a byte order mark, at line 1, column 1'],
    [' \n\u00a0', 'is not JSON: unexpected character, at line 2, column 1'],
    [bytes('"\ufffda\ufffd', [0xef, 0xbf, 0xbe, 0xff]), 'is not UTF-8, at line 1, column 6'],
    [Buffer.from('{"ä":\n"\ufffd', 'utf8'), 'is not JSON: unexpected end, at line 2, column 3'],
    [bytes('{"ä":\n "', [0xff], '"}'), 'is not UTF-8, at line 2, column 3'],
    [bytes('"\ufffd\ufffd', [0xc3], '"'), 'is not UTF-8, at line 1, column 4'],
    [bytes('"é', [0xef, 0xbf]), 'is not UTF-8, at line 1, column 3'],
    [bytes('"\n', [0xef, 0xbf, 0x41], 'x"'), 'is not UTF-8, at line 2, column 1'],
    [bytes('', [0x80]), 'is not UTF-8, at line 1, column 1'],
    [bytes('"a', [0xf0, 0x9f, 0x98]), 'is not UTF-8, at line 1, column 3'],
    [bytes('"', [0xed, 0xa0, 0x80], '"'), 'is not UTF-8, at line 1, column 2'],
  ] as const)
    it(`says that it ${message}`, () => {
      expect(() => parseStrictJson(Buffer.from(body))).to.throw(`The body ${message}.`);
    });

  it('names no position in an empty body', () => {
    for (const body of ['', ' ', '\n\t\r\n'])
      expect(() => parseStrictJson(Buffer.from(body))).to.throw(/^The body is empty\.$/);
  });
});

function bytes(before: string, invalid: readonly number[], after = ''): Buffer {
  return Buffer.concat([Buffer.from(before), Buffer.from(invalid), Buffer.from(after)]);
}
