import { expect } from 'chai';
import fc from 'fast-check';
import { endOfValidJson, positionOf } from '#src/adapters/inbound/http/body/json-position.js';
import { parseStrictJson } from '#src/adapters/inbound/http/body/strict-json.js';

/** A text that is not JSON, with `^` before the first character that no JSON text can have there. */
const MARKED = [
  '^x',
  '^]',
  '{^',
  '{^]',
  '{"a"^}',
  '{"a" ^"b"}',
  '{"a":^}',
  '{"a":1^;}',
  '{"a":1 ^2}',
  '{"a":1,^}',
  '{"a":1,^,}',
  "{^'a':1}",
  '{^a:1}',
  '{"a":1}^}',
  '{"a":1} ^{}',
  '[1,^]',
  '[1 ^2]',
  '[^,1]',
  '["a"^:1]',
  '[^',
  '[1^',
  '{"a":[1,2^}',
  '"a^',
  '"a^\u0001"',
  '"a^\n"',
  '"\\^x"',
  '"\\u12^g4"',
  '"\\u12^"',
  '"\\^',
  '"^\u0000"',
  '-^',
  '-^x',
  '-0^1',
  '0^1',
  '1.^',
  '1.^e1',
  '1e^',
  '1e+^x',
  '1e-^"',
  '1.1^.',
  '^+1',
  '^.5',
  't^',
  'tru^ ',
  'nul^L',
  '^NaN',
  '^undefined',
  'false^x',
  '1^/* a */',
  '{"name": "Lamp", "price": {"amount": 0^1}}',
];

const errorAt = (text: string) => endOfValidJson(Buffer.from(text));

describe('endOfValidJson', () => {
  for (const marked of MARKED) {
    const index = marked.indexOf('^');
    const text = marked.replace('^', '');
    it(`finds the error in ${JSON.stringify(marked)}`, () => {
      expect(() => JSON.parse(text)).to.throw();
      expect(errorAt(text)).to.equal(index);
    });
  }

  it('returns the length of JSON, however it is written', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(4), (json, indent) => {
        const text = ` \t\r\n${JSON.stringify(JSON.parse(json), undefined, indent)}\n`;
        expect(errorAt(text)).to.equal(Buffer.byteLength(text));
      }),
    );
  });

  it('finds the place where V8 finds it, if V8 names one', () => {
    const noise = fc.constantFrom(...'{}[]:,"\\0.5eE+-truefalsn \n\u0001é😀');
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 3 }),
        fc.nat(),
        noise,
        fc.boolean(),
        (json, at, character, isInserted) => {
          const start = at % (json.length + 1);
          const text = json.slice(0, start) + character + json.slice(start + (isInserted ? 0 : 1));
          const found = v8Position(text);
          if (found === undefined) return;
          expect(errorAt(text), text).to.equal(Buffer.byteLength(text.slice(0, found)));
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

/** The position in V8's message; the length if the text ends too early; undefined if V8 names none. */
function v8Position(text: string): number | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    if (/Unexpected end|Unterminated string/.test(message)) return text.length;
    const [, position] = /at position (\d+)/.exec(message) ?? [];
    return position === undefined ? undefined : Number(position);
  }
}

describe('positionOf', () => {
  for (const [before, line, column] of [
    ['', 1, 1],
    ['ab', 1, 3],
    ['\t\t', 1, 3],
    ['a\n', 2, 1],
    ['a\r\n', 2, 1],
    ['a\r', 2, 1],
    ['\r\r\n\n\r', 5, 1],
    ['\n  a', 2, 4],
    ['é', 1, 2],
    ['日本', 1, 3],
    ['😀', 1, 2],
    ['e\u0301', 1, 3],
    ['👩‍🚀', 1, 4],
    ['\u2028\u0085x', 1, 4],
  ] as const)
    it(`is ${line}:${column} after ${JSON.stringify(before)}`, () => {
      const bytes = Buffer.from(`${before}!é\n`);
      expect(positionOf(bytes, Buffer.byteLength(before))).to.deep.equal({ line, column });
    });
});

describe('a message of parseStrictJson', () => {
  for (const [body, message] of [
    [
      '{\r\n  "name": "Küche 😀",\r\n  "sku": ,\r\n}',
      'is not JSON: unexpected character, at line 3, column 10',
    ],
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
