import { expect } from 'chai';
import type { TestStoreProvider } from '../../stores/provider.js';
import { keysOf, MATCHES, outermostPosition, sorted, TEXT_OPERATORS } from './expected.js';
import { at, by, idsOf, product, query } from './records.js';
import { TestStore } from './test-store.js';

/** Astral characters sort after U+E000 to U+FFFF, as in UTF-8. In UTF-16 they would sort before. */
const NAMES = [
  ...['', 'z', '\ud7ff', '\ue000', '\uf8ff', '\uffff', '\u{10000}', '😀', '😁', '\u{10ffff}'],
  ...[
    'a\ue000',
    'a\uffff',
    'a\uffffz',
    'a😀',
    'a\u{10ffff}',
    'a\u{10ffff}\u{10ffff}',
    'az',
    'b',
    '😀\ue000',
    '😀😀',
  ],
];
const OTHER_TEXTS = [
  'a',
  'a\u{10ffff}z',
  '\ud7ff\ud7ff',
  '\u{1f601}\u{1f601}',
  '\u{10ffff}\u{10ffff}',
  '\uffffz',
];

/** Every store sorts text by code point. */
export function codePointOrderContract(provider: TestStoreProvider): void {
  describe(`order by code point on ${provider.name}`, () => {
    const store = TestStore.forEachTest(provider);
    const records = NAMES.map((name, position) => product(position + 1, { name }));

    beforeEach(() => store.addAll(records));

    it('applies to lists, at every position', async () => {
      for (const sort of ['name,id', '-name,id']) {
        const order = by(sort);
        const all = idsOf(sorted(records, order));
        expect(await store.ids({ order })).to.deep.equal(all);
        expect(await store.ids({ order, from: outermostPosition(order, 'before') })).to.deep.equal(all);
        for (const record of records) {
          const values = keysOf(record, order);
          const position = all.indexOf(record.id);
          expect(await store.ids({ order, from: at('after', ...values) })).to.deep.equal(
            all.slice(position + 1),
          );
          expect(await store.ids({ order, from: at('before', ...values) })).to.deep.equal(
            all.slice(0, position),
          );
        }
      }
    });

    it('applies to every operator', async () => {
      for (const value of [...NAMES, ...OTHER_TEXTS]) {
        for (const operator of TEXT_OPERATORS) {
          const expected = idsOf(records.filter(({ fields }) => MATCHES[operator](fields.name, value)));
          const filters = [{ field: 'name', operator, value }];
          expect(await store.ids({ filters }), `${operator} ${value}`).to.deep.equal(expected);
          expect(await store.products.count(filters), `${operator} ${value}`).to.equal(expected.length);
        }
      }
    });

    it('applies to a filter and an order on the same field', async () => {
      const order = by('-name,-id');
      const filters = [{ field: 'name', operator: 'prefix' as const, value: 'a' }];
      const expected = sorted(records, order).filter(({ fields }) => fields.name.startsWith('a'));
      const page = await store.products.list(query({ filters, order }));
      expect(page).to.deep.equal({ records: expected, hasMore: false });
    });
  });
}
