import { expect } from 'chai';
import fc from 'fast-check';
import { parseBody } from '#src/adapters/inbound/http/body/strict-json.js';

describe('parseBody, given numbers,', () => {
  const parse = (text: string) => parseBody(Buffer.from(text));

  it('reads integers and fractions as JSON.parse does', () => {
    for (const text of [
      ...[
        '100.0',
        '1.00e2',
        '1e2',
        '0.0',
        '-0.0',
        '0e-5',
        '10e-1',
        '1200E-2',
        '1.5',
        '-2.25e-3',
        '1e-2',
        '0.1',
      ],
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
      [
        '[{"op":"add","path":"/attributes","value":{"a":N}}]',
        [{ op: 'add', path: '/attributes', value: { a: 1 } }],
      ],
      [
        '[{"op":"add","path":"","value":{"userId":N,"attributes":{"a":N}}}]',
        [{ op: 'add', path: '', value: { userId: [], attributes: { a: 1 } } }],
      ],
      ['[{"op":"add","path":"/attributesX","value":N}]', [{ op: 'add', path: '/attributesX', value: [] }]],
      [
        '[{"op":"test","path":"/price/amount","value":N},N]',
        [{ op: 'test', path: '/price/amount', value: [] }, []],
      ],
    ];
    for (const [text, value] of cases)
      expect(parse(text.replaceAll('N', rounded)), text).to.deep.equal(value);
  });

  it('agrees with exact arithmetic about any decimal', () => {
    const digits = fc.string({ unit: fc.constantFrom('0', '0', '1', '9'), maxLength: 22 });
    fc.assert(
      fc.property(
        fc.nat(9),
        digits,
        digits,
        fc.integer({ min: -25, max: 5 }),
        (first, more, fraction, exponent) => {
          const integer = first === 0 ? '0' : `${first}${more}`;
          const text = `${integer}.${fraction}0e${exponent}`;
          const decimals = fraction.length + 1 - exponent;
          const isInteger = BigInt(`${integer}${fraction}0`) % 10n ** BigInt(Math.max(decimals, 0)) === 0n;
          const isRounded = Number.isInteger(Number(text)) && !isInteger;
          expect(parse(text)).to.deep.equal(isRounded ? [] : Number(text));
        },
      ),
    );
  });
});
