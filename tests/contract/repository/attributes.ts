import { expect } from 'chai';
import type { AttributeFilter } from '#src/application/ports/list-query.js';
import type { Attributes } from '#src/domain/fields.js';
import { list } from '../../support/list.js';
import { product } from './records.js';
import type { TestStore } from './test-store.js';

/** Keys with a special meaning in databases, JavaScript or Unicode. */
const KEYS = [
  ...[...list`a  A  a.b  .a  a.  .  $a  $  $gt  a:b  :  a b  0  1  [0]  #-1  *`, ' '],
  ...['"', 'a"b', "'", '\\', 'a\\b', '/', '~', '`', '%', '_', 'a_b', 'é', 'e\u0301', '😀', '\uffff'],
  ...['constructor', 'toString', 'hasOwnProperty', 'prototype', 'length', '__defineGetter__', '_id', 'key'],
];

/** Values of one key, some of which have the same text. */
const VALUES = [
  ...[...list`0  1  -1  1.0  1.5  1.50  100  1e2  1e-7  0.0000001  true  false  True`, '', ' '],
  ...[...list`null  NaN  Infinity  -0  +1  0x10  red  Red  é  %  _  .*`, ' 1', '1 ', 'e\u0301'],
  ...[0, 1, -1, 1.5, 100, 16, 1e-7, 0.1, 0.1 + 0.2, 5e-324, 123_456.789, 2 ** 53 - 1, -(2 ** 53 - 1)],
  ...[true, false],
];
const OTHER_TEXTS = list`re  redd  1e0  01  1,5  1E-7  1e-07  0.30000000000000004  5e-324  .1`;

/** Decimals for which a conversion from text to double easily fails in the last bit. */
const DECIMALS = [
  ...[0.007411391956661005, 0.3071995600962035, 0.352250726636507, 0.3372342689610138, 27.20571694460501],
  ...[37.46385862935416, 464129.8308686573, 123854.7668084416, 0.4572229607168595, 0.2900312516793285],
  ...[-0.00011824901333624988, 0.003284690003678146, -0.026787720622325192, -0.25224706600909313],
  ...[3.866985167357673, 47.66539329321276, -9.377510706450376, 2834.2493788204974, 109.79379355725017],
  ...[-98594.84184871874, 1.2345678901234567e-20, -7.05817322846151e-300, 1234567890.1234567],
];

export function attributeContract(store: TestStore): void {
  const attribute = (key: string) => ({ field: 'attributes', operator: 'attribute', key }) as const;
  const where = (key: string, value: string): AttributeFilter => ({ ...attribute(key), value });
  const matching = (...filters: AttributeFilter[]) => store.ids({ filters });
  /** The ids that a filter finds, which must be the same beside a filter that all records match. */
  const matchingBeside = async (common: AttributeFilter, filter: AttributeFilter) => {
    const ids = await matching(filter);
    expect(await matching(filter, common), 'before another filter').to.deep.equal(ids);
    expect(await matching(common, filter), 'after another filter').to.deep.equal(ids);
    return ids;
  };

  describe('filters of attributes', () => {
    it('compare the value as text, also for numbers and booleans', async () => {
      await store.addAll(VALUES.map((one, at) => product(at + 1, { attributes: { other: 'x', a: one } })));
      for (const text of [...VALUES.map(String), ...OTHER_TEXTS]) {
        const expected = VALUES.flatMap((one, at) => (String(one) === text ? [at + 1] : []));
        expect(await matchingBeside(where('other', 'x'), where('a', text)), text).to.deep.equal(expected);
      }
    });

    it('find 1.5 and "1.5", but neither 1.50 nor 100 by 1e2', async () => {
      await store.add(1, { attributes: { a: 1.5, b: 100 } });
      await store.add(2, { attributes: { a: '1.5', b: '1e2' } });
      expect(await matching(where('a', '1.5'))).to.deep.equal([1, 2]);
      expect(await matching(where('a', '1.50'))).to.deep.equal([]);
      expect(await matching(where('b', '100'))).to.deep.equal([1]);
      expect(await matching(where('b', '1e2'))).to.deep.equal([2]);
    });

    it('find any decimal by all its digits', async () => {
      await store.addAll(DECIMALS.map((a, at) => product(at + 1, { attributes: { a, other: 'x' } })));
      for (const [at, decimal] of DECIMALS.entries()) {
        const ids = await matchingBeside(where('other', 'x'), where('a', String(decimal)));
        expect(ids, String(decimal)).to.deep.equal([at + 1]);
      }
    });

    it('match the key literally', async () => {
      await store.addAll(KEYS.map((key, at) => product(at + 1, { attributes: { [key]: 'x', common: 'y' } })));
      for (const [at, key] of KEYS.entries()) {
        expect(await matchingBeside(where('common', 'y'), where(key, 'x')), key).to.deep.equal([at + 1]);
        expect(await matchingBeside(where('common', 'y'), where(key, 'y')), key).to.deep.equal([]);
      }
      for (const key of ['__proto__', 'valueOf', '', 'b', 'com', 'common.x', 'a.b.c', '$.a', 'a\u0000']) {
        expect(await matchingBeside(where('common', 'y'), where(key, 'x')), key).to.deep.equal([]);
      }
    });

    it('find a key among fifty', async () => {
      const attributes: Attributes = Object.fromEntries(KEYS.map((key, at) => [key, at]));
      await store.add(1, { attributes });
      await store.add(2, { attributes: { ...attributes, a: 'other' } });
      for (const [at, key] of KEYS.entries()) {
        expect(await matching(where(key, `${at}`)), key).to.deep.equal(key === 'a' ? [1] : [1, 2]);
      }
    });

    it('may be many', async () => {
      const attributes: Attributes = Object.fromEntries(KEYS.map((key, at) => [key, at]));
      await store.add(1, { attributes });
      await store.add(2, { attributes: { ...attributes, a: 'other' } });
      await store.add(3, { attributes: { a: 0 } });
      const all = KEYS.map((key, at) => where(key, `${at}`));
      expect(await matching(...all)).to.deep.equal([1]);
      expect(await matching(...all.slice(1))).to.deep.equal([1, 2]);
      expect(await matching(...all, where('a', '1'))).to.deep.equal([]);
      expect(await matching(...all, ...all)).to.deep.equal([1]);
    });

    it('find any of several texts, numbers and booleans that are written so', async () => {
      await store.addAll(VALUES.map((a, at) => product(at + 1, { attributes: { a } })));
      const idsOf = (texts: string[]) =>
        VALUES.flatMap((one, at) => (texts.includes(String(one)) ? [at + 1] : []));
      for (const values of [
        ['1'],
        ['1', 'true', '1'],
        ['red', '1.5', 'x'],
        [...OTHER_TEXTS],
        VALUES.map(String),
      ])
        expect(await matching({ ...attribute('a'), values }), values.join()).to.deep.equal(idsOf(values));
      expect(await matching({ ...attribute('b'), values: ['1'] })).to.deep.equal([]);
    });

    it('compare numbers alone by value, to the last bit', async () => {
      const values = [...VALUES, ...DECIMALS];
      await store.addAll(values.map((a, at) => product(at + 1, { attributes: { a, other: 5 } })));
      const tests = {
        lt: (own: number, number: number) => own < number,
        lte: (own: number, number: number) => own <= number,
        gt: (own: number, number: number) => own > number,
        gte: (own: number, number: number) => own >= number,
      };
      for (const number of [0, 1, 1.5, 5e-324, -1e300, 1e300, 2 ** 53, ...DECIMALS])
        for (const [comparison, test] of Object.entries(tests)) {
          const expected = values.flatMap((one, at) =>
            typeof one === 'number' && test(one, number) ? [at + 1] : [],
          );
          const filter = { ...attribute('a'), comparison: comparison as keyof typeof tests, number };
          expect(await matching(filter), `${comparison} ${number}`).to.deep.equal(expected);
        }
      const between = [
        { ...attribute('a'), comparison: 'gte', number: 1 } as const,
        { ...attribute('a'), comparison: 'lt', number: 100 } as const,
      ];
      const expected = values.flatMap((one, at) =>
        typeof one === 'number' && one >= 1 && one < 100 ? [at + 1] : [],
      );
      expect(await matching(...between)).to.deep.equal(expected);
    });

    it('ask whether there is a value of any type', async () => {
      await store.addAll(
        KEYS.map((key, at) => product(at + 1, { attributes: { [key]: [false, 0, ''][at % 3] ?? '' } })),
      );
      await store.add(100);
      const all = [...KEYS.keys()].map((at) => at + 1);
      for (const [at, key] of KEYS.entries()) {
        expect(await matching({ ...attribute(key), exists: true }), key).to.deep.equal([at + 1]);
        const others = [...all.filter((id) => id !== at + 1), 100];
        expect(await matching({ ...attribute(key), exists: false }), key).to.deep.equal(others);
      }
      for (const key of ['__proto__', 'valueOf', 'com', 'a\u0000', ''])
        expect(await matching({ ...attribute(key), exists: false }), key).to.deep.equal([...all, 100]);
    });

    it('match a key only with its own value', async () => {
      await store.add(1, { attributes: { colour: 'red', lining: 'blue' } });
      await store.add(2, { attributes: { colour: 'blue', lining: 'red' } });
      await store.add(3);
      expect(await matching(where('colour', 'blue'))).to.deep.equal([2]);
      expect(await matching(where('colour', 'red'), where('lining', 'blue'))).to.deep.equal([1]);
      expect(await matching(where('colour', 'red'), where('lining', 'red'))).to.deep.equal([]);
      expect(await matching(where('colour', 'red'), where('colour', 'blue'))).to.deep.equal([]);
    });

    it('combine with other filters and with every order', async () => {
      for (const id of [1, 2, 3, 4]) {
        await store.add(id, { name: `${9 - id}`, attributes: { even: id % 2 === 0 } });
      }
      const filters = [where('even', 'true'), { field: 'id', operator: 'lt' as const, value: 4 }];
      expect(await store.ids({ filters })).to.deep.equal([2]);
      expect(
        await store.ids({
          filters: [where('even', 'false')],
          order: [
            { field: 'name', descending: false },
            { field: 'id', descending: false },
          ],
        }),
      ).to.deep.equal([3, 1]);
    });
  });
}
