import { expect } from 'chai';
import fc from 'fast-check';
import { JsonScanner } from '#src/adapters/inbound/http/body/strict-json.js';
import { list } from '../../../../../support/list.js';

/** A text that is not JSON, with `^` before the first character that no JSON text can have there. */
const MARKED = [
  ...list`^x  ^]  {^  {^]  {"a"^}  {"a" ^"b"}  {"a":^}  {"a":1^;}  {"a":1 ^2}  {"a":1,^}  {"a":1,^,}  {^'a':1}  {^a:1}`,
  ...list`{"a":1}^}  {"a":1} ^{}  [1,^]  [1 ^2]  [^,1]  ["a"^:1]  [^  [1^  {"a":[1,2^}  "a^  "\^x"  "\u12^g4"  "\u12^"  "\^`,
  ...list`-^  -^x  -0^1  0^1  1.^  1.^e1  1e^  1e+^x  1e-^"  1.1^.  ^+1  ^.5  t^  nul^L  ^NaN  ^undefined  false^x`,
  ...list`1^/* a */  {"name": "Lamp", "price": {"amount": 0^1}}`,
  ...['"a^\u0001"', '"a^\n"', '"^\u0000"', 'tru^ '],
];

const errorAt = (text: string) => new JsonScanner(text).index;

describe('JsonScanner', () => {
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
        expect(errorAt(text)).to.equal(text.length);
      }),
    );
  });

  it('finds the place where V8 finds it, if V8 names one', () => {
    const noise = fc.constantFrom(...'{}[]:,"\\0.5eE+-truefalsn \n\u0001é😀');
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.nat(), noise, fc.boolean(), (json, at, character, isInserted) => {
        const start = at % (json.length + 1);
        const text = json.slice(0, start) + character + json.slice(start + (isInserted ? 0 : 1));
        const found = v8Position(text);
        if (found === undefined) return;
        expect(errorAt(text), text).to.equal(found);
      }),
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
