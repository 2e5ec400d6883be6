import { expect } from 'chai';
import type { Facet, FacetCount, FacetField, FacetQuery, Filter } from '#src/application/ports/list-query.js';
import type { Product } from '#src/domain/product.js';
import { AT, product } from './records.js';
import type { TestStore } from './test-store.js';

const MANY = 2_500;

/** Facets: the values of fields, each with the number of records that have it. */
export function facetContract(store: TestStore, hasLarge: boolean): void {
  const facets = (fields: FacetField[], rest: Partial<FacetQuery> = {}) =>
    store.products.facets({ filters: [], limit: 100, ...rest, fields });
  const facet = async (field: FacetField, rest: Partial<FacetQuery> = {}) =>
    (await facets([field], rest))[0] as Facet;
  const pairs = ({ values }: { readonly values: readonly FacetCount[] }) =>
    values.map(({ value, count }) => [value, count]);
  const colour: FacetField = { field: 'attributes', key: 'colour' };

  describe('facets', () => {
    it('are empty without records', async () => {
      const empty = { values: [], hasMore: false };
      expect(await facets([{ field: 'tags' }, { field: 'brand' }, colour])).to.deep.equal([
        empty,
        empty,
        empty,
      ]);
    });

    it('count a record once under each of its values, and not where it has none', async () => {
      await store.add(1, {
        brand: 'Acme',
        tags: ['a', 'a/b'],
        group: 'g',
        price: { amount: 1, currency: 'EUR' },
      });
      await store.add(2, {
        brand: 'acme',
        tags: ['a'],
        status: 'draft',
        price: { amount: 1, currency: 'USD' },
      });
      await store.add(3, { brand: 'Acme', status: 'draft', price: { amount: 1, currency: 'EUR' } });
      await store.add(4, { brand: 'Acme', tags: ['a'] });
      await store.products.removeAll([{ id: 4, expected: 1, at: AT }]);
      const fields = ['brand', 'tags', 'status', 'group', 'price.currency'].map((field) => ({ field }));
      expect((await facets(fields)).map(pairs)).to.deep.equal([
        [
          ['Acme', 2],
          ['acme', 1],
        ],
        [
          ['a', 2],
          ['a/b', 1],
        ],
        [['draft', 2]],
        [['g', 1]],
        [
          ['EUR', 2],
          ['USD', 1],
        ],
      ]);
    });

    it('follow every write', async () => {
      await store.add(1, { tags: ['a', 'b'], attributes: { colour: 'red', size: 1 } });
      const record = (version: number, fields: Partial<Product>) => ({ ...product(1, fields), version });
      const found = async () =>
        (await facets([{ field: 'tags' }, colour, { field: 'attributes', key: 'size' }])).map(pairs);
      expect(await found()).to.deep.equal([
        [
          ['a', 1],
          ['b', 1],
        ],
        [['red', 1]],
        [[1, 1]],
      ]);
      await store.products.replaceAll([
        { record: record(2, { tags: ['b', 'c'], attributes: { colour: 7 } }), expected: 1 },
      ]);
      expect(await found()).to.deep.equal([
        [
          ['b', 1],
          ['c', 1],
        ],
        [[7, 1]],
        [],
      ]);
      await store.products.replaceAll([{ record: record(3, {}), expected: 2 }]);
      expect(await found()).to.deep.equal([[], [], []]);
    });

    it('keep the types of attributes apart, and order them: texts, numbers, booleans', async () => {
      const values = [true, false, 10, 9, -1, 0.5, '10', 'true', '', '\uffff', '😀', 'a', 'B'];
      await store.addAll(
        values.map((value, at) => product(at + 1, { attributes: { colour: value, other: value } })),
      );
      await store.add(20, { attributes: { colour: 9 } });
      expect(pairs(await facet(colour))).to.deep.equal([
        [9, 2],
        ...['', '10', 'B', 'a', 'true', '\uffff', '😀', -1, 0.5, 10, false, true].map((value) => [value, 1]),
      ]);
    });

    it('take keys literally', async () => {
      const keys = [
        'a.b',
        'a',
        '$a',
        'a"b',
        'a\\b',
        "a'b",
        'constructor',
        '%',
        'é',
        'e\u0301',
        '[0]',
        'a].in',
      ];
      await store.add(1, { attributes: Object.fromEntries(keys.map((key) => [key, key])) });
      const others = ['b', '__proto__', 'toString', '', 'a\u0000', 'x'.repeat(2_000)];
      const attributes = [...keys, ...others].map((key): FacetField => ({ field: 'attributes', key }));
      const expected = [...keys.map((key) => [[key, 1]]), ...others.map(() => [])];
      const all: Filter = { field: 'id', operator: 'gte', value: 1 };
      for (const filters of [[], [all]])
        expect((await facets(attributes, { filters })).map(pairs)).to.deep.equal(expected);
    });

    it('count what matches all filters and words', async () => {
      await store.addAll(
        [1, 2, 3, 4, 5, 6].map((id) =>
          product(id, {
            name: id % 2 ? 'Brass lamp' : 'Chair',
            tags: [`t${id % 3}`],
            attributes: { colour: id > 3 ? 'red' : 'blue' },
            price: { amount: id * 100, currency: 'EUR' },
          }),
        ),
      );
      const counts = async (...filters: Filter[]) =>
        (await facets([{ field: 'tags' }, colour], { filters })).map(pairs);
      const red: Filter = { field: 'attributes', operator: 'attribute', key: 'colour', value: 'red' };
      expect(await counts(red)).to.deep.equal([
        [
          ['t0', 1],
          ['t1', 1],
          ['t2', 1],
        ],
        [['red', 3]],
      ]);
      expect(await counts({ field: 'price.amount', operator: 'lte', value: 400 }, red)).to.deep.equal([
        [['t1', 1]],
        [['red', 1]],
      ]);
      expect(await counts({ field: 'q', operator: 'search', words: ['lam', 'bra'] })).to.deep.equal([
        [
          ['t0', 1],
          ['t1', 1],
          ['t2', 1],
        ],
        [
          ['blue', 2],
          ['red', 1],
        ],
      ]);
      expect(await counts({ field: 'id', operator: 'in', values: [2, 5] })).to.deep.equal([
        [['t2', 2]],
        [
          ['blue', 1],
          ['red', 1],
        ],
      ]);
      expect(await counts({ field: 'id', operator: 'gt', value: 6 })).to.deep.equal([[], []]);
    });

    it('show texts that begin with a prefix, taken literally', async () => {
      const tags = [
        'lighting',
        'lighting/',
        'lighting/lamps',
        'lighting/lamps/desk',
        'Lighting/x',
        'lightinh',
        'l%',
      ];
      await store.add(1, { tags, attributes: { colour: 'lightish' } });
      await store.add(2, { tags: ['lighting/lamps'], attributes: { colour: 1 } });
      const counts = async (prefix: string, field: FacetField = { field: 'tags' }) =>
        pairs(await facet(field, { prefix }));
      expect(await counts('lighting/')).to.deep.equal([
        ['lighting/lamps', 2],
        ['lighting/', 1],
        ['lighting/lamps/desk', 1],
      ]);
      expect(await counts('l%')).to.deep.equal([['l%', 1]]);
      expect(await counts('x')).to.deep.equal([]);
      expect(await counts('', colour)).to.deep.equal([['lightish', 1]]);
      expect(await counts('light', colour)).to.deep.equal([['lightish', 1]]);
    });

    it('are read on behind any value', async () => {
      await store.addAll(
        ['c', 'c', 'c', 'a', 'a', 'b', 'b', 'd', 1, 1, true].map((value, at) =>
          product(at + 1, { attributes: { colour: value } }),
        ),
      );
      const all = [
        ['c', 3],
        ['a', 2],
        ['b', 2],
        [1, 2],
        ['d', 1],
        [true, 1],
      ];
      for (const limit of [1, 2, 5, 6]) {
        const found: unknown[] = [];
        let [after, hasMore]: [FacetCount | undefined, boolean] = [undefined, true];
        for (let pages = 0; hasMore && pages < 10; pages++) {
          const page: Facet = await facet(colour, { limit, after });
          found.push(...pairs(page));
          after = page.values.at(-1);
          hasMore = page.hasMore;
        }
        expect(found, `by ${limit}`).to.deep.equal(all);
      }
    });

    if (hasLarge)
      it('count many records, with few filters and many', async () => {
        await store.addAll(
          Array.from({ length: MANY }, (_, at) =>
            product(at + 1, {
              ...(at % 10 && { brand: `brand ${at % 40}` }),
              tags: [`t${at % 3}`, ...(at % 4 ? [] : ['quarter'])],
              attributes: { colour: at % 7, half: at % 2, unique: `u${at}` },
            }),
          ),
        );
        const expectCounts = async (filters: Filter[], test: (at: number) => boolean) => {
          const matching = Array.from({ length: MANY }, (_, at) => at).filter(test);
          const count = (valueAt: (at: number) => FacetCount['value'] | undefined) => {
            const counts = new Map<FacetCount['value'], number>();
            for (const at of matching) {
              const value = valueAt(at);
              if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
            }
            return [...counts].sort(
              ([a, n], [b, m]) => m - n || (typeof a === 'number' ? a - Number(b) : a < b ? -1 : 1),
            );
          };
          const fields = [{ field: 'brand' }, colour, { field: 'attributes', key: 'unique' }];
          const [brands, colours, unique] = await facets(fields, { filters, limit: 20 });
          const all = [
            count((at) => (at % 10 ? `brand ${at % 40}` : undefined)),
            count((at) => at % 7),
            count((at) => `u${at}`),
          ];
          expect([brands, colours, unique].map((one) => one && [pairs(one), one.hasMore])).to.deep.equal(
            all.map((counts) => [counts.slice(0, 20), counts.length > 20]),
          );
        };
        await expectCounts([], () => true);
        await expectCounts([{ field: 'tags', operator: 'eq', value: 'quarter' }], (at) => at % 4 === 0);
        await expectCounts(
          [
            { field: 'tags', operator: 'eq', value: 't1' },
            { field: 'attributes', operator: 'attribute', key: 'colour', comparison: 'lt', number: 2 },
          ],
          (at) => at % 3 === 1 && at % 7 < 2,
        );
        await expectCounts(
          [{ field: 'attributes', operator: 'attribute', key: 'half', value: '0' }],
          (at) => at % 2 === 0,
        );
        await expectCounts([{ field: 'createdAt', operator: 'gte', value: AT }], () => true);
        await expectCounts(
          [{ field: 'brand', operator: 'ne', value: 'brand 1' }],
          (at) => at % 10 > 0 && at % 40 !== 1,
        );
      });
  });
}
