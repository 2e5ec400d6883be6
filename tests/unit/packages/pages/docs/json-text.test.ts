import { expect } from 'chai';
import fc from 'fast-check';
import { indentedJson, jsonParts } from '#packages/pages/docs/json-text.js';

describe('indentedJson', () => {
  const withoutSpace = (text: string) => text.replaceAll(/\s/g, '');

  it('indents like JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const shown = indentedJson(JSON.stringify(value));
        expect(JSON.parse(shown)).to.deep.equal(JSON.parse(JSON.stringify(value)));
        expect(shown).to.equal(JSON.stringify(value, undefined, 2));
      }),
    );
  });

  it('keeps numbers, duplicate fields and escapes as they were written', () => {
    const text = '{"a":9007199254740993,"b":1.0,"a":1e2,"c":"\\u0041 \\" {,}:"}';
    expect(withoutSpace(indentedJson(text))).to.equal(withoutSpace(text));
  });

  it('returns text that is not JSON unchanged', () => {
    for (const text of ['', 'plain', '{"a":1}\n{"a":2}\n', '{"a":']) expect(indentedJson(text)).to.equal(text);
  });
});

describe('the coloured parts of JSON', () => {
  it('are names, strings, numbers and literals', () => {
    expect(jsonParts('{"a" : "b\\"c", "d":[-1.5e+3,true,null]}')).to.deep.equal([
      ['{'],
      ['"a"', 'name'],
      [' : '],
      ['"b\\"c"', 'string'],
      [', '],
      ['"d"', 'name'],
      [':['],
      ['-1.5e+3', 'number'],
      [','],
      ['true', 'literal'],
      [','],
      ['null', 'literal'],
      [']}'],
    ]);
  });

  it('are together the same text, even if it ends anywhere or is no JSON', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.json().map((text) => text.slice(0, text.length / 2)),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(
          jsonParts(text)
            .map(([part]) => part)
            .join(''),
        ).to.equal(text);
      }),
    );
  });

  it('take linear time for a text of quotation marks that is cut off', () => {
    const text = `"${'\\"'.repeat(200_000)}`;
    expect(jsonParts(text)).to.deep.equal([[text, 'string']]);
  });
});
