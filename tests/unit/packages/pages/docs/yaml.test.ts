import { expect } from 'chai';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { yamlOf } from '#packages/pages/docs/yaml.js';
import { list } from '../../../../support/list.js';

describe('yamlOf', () => {
  it('writes block style that people can read', () => {
    const value = {
      openapi: '3.1.0',
      tags: [{ name: 'Products', description: 'Lists: `a`' }, 'x'],
      responses: { '200': { $ref: '#/a' }, empty: {}, none: [], nested: [[1, [true]], null] },
    };
    expect(yamlOf(value)).to.equal(`openapi: "3.1.0"
tags:
  - name: Products
    description: "Lists: \`a\`"
  - x
responses:
  "200":
    $ref: "#/a"
  empty: {}
  none: []
  nested:
    - - 1
      - - true
    - null
`);
  });

  it('escapes what YAML calls not printable', () => {
    expect(yamlOf('\x7f\x9f\u2028\ufeff😀')).to.equal('"\\u007f\\u009f\\u2028\\ufeff😀"\n');
  });

  it('is the same value for a YAML parser, whatever the texts', () => {
    const words = [
      ...list`yes  Null  on  1e3  0x1f  2030-01-31  -  - a  a #b  a: b  ~  =  <<  '  😀  {  [  *a  &a  !a  %a  |  >`,
      ...list`.  .inf  ---  ...`,
      ' a',
      'a ',
      '\u0085',
      '\ufeff',
      'a\nb',
    ];
    const text = fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'grapheme' }), fc.string());
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(
          text.filter((name) => name !== '__proto__' && name !== '<<'),
          tie('tree'),
          { maxKeys: 4, noNullPrototype: true },
        ),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        const json = JSON.parse(JSON.stringify(value));
        expect(load(yamlOf(json))).to.deep.equal(json);
      }),
      { numRuns: 500 },
    );
  });
});
