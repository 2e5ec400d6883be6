import { expect } from 'chai';
import type { Filter, Position } from '#src/application/ports/list-query.js';
import { paginate } from '#src/application/records/lists.js';
import type { Id, Versioned } from '#src/domain/record.js';
import { expectedFinds, searchFor } from '../../support/reference-search.js';
import { longText } from '../../support/unicode-texts.js';
import { AT, by, idsOf, next, product, query } from './records.js';
import type { TestStore } from './test-store.js';

/** A store may keep the records of this many consecutive ids together, and read one such block after another. */
const FAR_APART: readonly Id[] = [1, 2, 999, 1_000, 1_001, 4_095, 4_096, 65_536, 2 ** 31, 2 ** 40, 2 ** 53 - 1];

const MANY = 3_000;

/** Searches of long, distant and changing records. `queryProperty` has what a search finds in any text. */
export function searchContract(store: TestStore, hasLarge: boolean): void {
  const find = (text: string, ...filters: Filter[]) =>
    store.ids({ limit: 1_000, filters: [searchFor(text), ...filters] });
  const countOf = (text: string) => store.products.count([searchFor(text)]);

  describe('a search', () => {
    it('finds a record by its first 8,000 different words, and by no further one', async () => {
      const text = longText(9_100);
      const attributes = { a: text.slice(5_000, 5_500), b: text.slice(5_500) };
      const long = product(1, { name: 'lamp', description: text.slice(0, 5_000), attributes });
      const all = [long, { ...long, id: 2 }, product(3, { name: 'desk', description: text.slice(8_500) })];
      await store.addAll(all);
      const parts = [2_000, 7_990, 7_995, 8_000, 8_500].map((at) => text.slice(at, at + 20));
      for (const part of [...parts, ...parts.map((part) => part.slice(0, 3)), 'lamp', `lamp ${parts[0]}`])
        expect(await find(part), part).to.deep.equal(expectedFinds('products', all, part));
      expect(await find(parts[1] ?? '')).to.deep.equal([1, 2]);
      expect(await find(parts[4] ?? '')).to.deep.equal([3]);
      await store.products.replaceAll([{ record: next(long, { description: 'short', attributes }), expected: 1 }]);
      await store.products.removeAll([{ id: 2, expected: 1, at: AT }]);
      expect(await find(parts[0] ?? '')).to.deep.equal([]);
      expect(await find(parts[1] ?? '')).to.deep.equal([1]);
      expect(await find(parts[4] ?? '')).to.deep.equal([1, 3]);
      expect(await countOf(parts[4] ?? '')).to.equal(2);
    });

    it('finds records that are replaced or deleted together by their present words only', async () => {
      const records = [1, 2, 3, 4, 5].map((id) => product(id, { name: `old lamp n${id}` }));
      await store.addAll(records);
      const names = ['new lamp', 'old lamp', 'new desk', 'lost'];
      const edits = records.slice(0, 4).map((old, at) => ({
        record: next(old, { name: names[at] ?? '', price: { amount: at, currency: 'EUR' } }),
        expected: at === 3 ? 2 : 1,
      }));
      const replaced = ['replaced', 'replaced', 'replaced', 'version_conflict'];
      expect(await store.products.replaceAll(edits)).to.deep.equal(replaced);
      const expectFound = async (expected: Readonly<Record<string, readonly Id[]>>) => {
        for (const [text, ids] of Object.entries(expected)) {
          expect(await find(text), text).to.deep.equal(ids);
          expect(await countOf(text), `count of ${text}`).to.equal(ids.length);
        }
      };
      await expectFound({ old: [2, 4, 5], new: [1, 3], lamp: [1, 2, 4, 5], desk: [3], n1: [], lost: [] });
      const removals = [1, 2, 4, 5].map((id) => ({ id, expected: id === 5 ? 9 : id === 4 ? 1 : 2, at: AT }));
      expect(await store.products.removeAll(removals)).to.deep.equal([true, true, true, false]);
      await expectFound({ old: [5], new: [3], lamp: [5], desk: [3] });
    });

    it('keeps up with many writes after a search', async () => {
      const all = Array.from({ length: 400 }, (_, i) => product(i + 1, { name: `old n${i}` }));
      await store.addAll(all.slice(0, 100));
      const expectOldAndNew = async (old: readonly Id[], renewed: readonly Id[]) => {
        expect([await find('old'), await find('new')]).to.deep.equal([old, renewed]);
        expect([await countOf('old'), await countOf('new')]).to.deep.equal([old.length, renewed.length]);
      };
      const ids = idsOf(all);
      await expectOldAndNew(ids.slice(0, 100), []);
      for (const [at, record] of all.slice(0, 60).entries()) {
        const renewed = { ...record, version: 2, fields: { name: 'new' } };
        expect(await store.products.replaceAll([{ record: renewed, expected: 1 }])).to.deep.equal(['replaced']);
        if (at === 9) await expectOldAndNew(ids.slice(10, 100), ids.slice(0, 10));
      }
      await expectOldAndNew(ids.slice(60, 100), ids.slice(0, 60));
      for (const id of [1, 2, 60, 61, 100])
        await store.products.removeAll([{ id, expected: id <= 60 ? 2 : 1, at: AT }]);
      await store.addAll(all.slice(100));
      await expectOldAndNew([...ids.slice(61, 99), ...ids.slice(100)], ids.slice(2, 59));
    });

    it('finds no record whose insertion failed', async () => {
      await store.add(1, { name: 'one', sku: 'taken' });
      const outcomes = await store.products.insertAll([
        product(1, { name: 'lamp' }),
        product(2, { name: 'lamp', sku: 'taken' }),
        product(3, { name: 'lamp' }),
      ]);
      expect(outcomes[2]).to.equal('inserted');
      expect(await find('lamp')).to.deep.equal([3]);
      expect(await find('one')).to.deep.equal([1]);
    });

    it('finds records whose ids lie far apart', async () => {
      const all = FAR_APART.map((id, at) => product(id, { name: `${at % 2 ? 'odd' : 'even'} lamp ${at}` }));
      await store.addAll(all);
      for (const text of ['lamp', 'odd', 'even lamp', '10', 'none']) {
        const expected = expectedFinds('products', all, text);
        for (const [sort, limit] of Object.entries({ id: 1, '-id': 2, 'name,id': 3 })) {
          const pages = paginate(store.products, query({ limit, filters: [searchFor(text)], order: by(sort) }));
          const ids: Id[] = [];
          for await (const page of pages) ids.push(...idsOf(page));
          if (sort === 'name,id') expect(ids, text).to.have.members(expected);
          else expect(ids, `${text} by ${sort}`).to.deep.equal(sort === 'id' ? expected : expected.toReversed());
        }
        expect(await countOf(text), text).to.equal(expected.length);
      }
      const [, low = 0, middle = 0, high = 0] = FAR_APART;
      const ofIds: Filter = { field: 'id', operator: 'in', values: [low, high] };
      expect(await find('lamp', ofIds), 'of ids').to.deep.equal([low, high]);
      expect(await find('lamp', { field: 'id', operator: 'ne', value: middle }), 'of others').to.not.include(middle);
    });

    it('finds what the last ids have if the others were removed', async () => {
      const all = Array.from({ length: 300 }, (_, i) => product(20 * (i + 1), { name: `lamp w${i + 1}` }));
      await store.addAll(all);
      await store.products.removeAll(all.slice(0, -3).map(({ id }) => ({ id, expected: 1, at: AT })));
      expect(await find('lamp')).to.deep.equal([5_960, 5_980, 6_000]);
      expect(await find('w300 lamp')).to.deep.equal([6_000]);
      expect(await find('w7')).to.deep.equal([]);
      expect(await countOf('lamp')).to.equal(3);
    });

    if (hasLarge)
      it('shows each record once that stays, while others are written', async () => {
        const all = Array.from({ length: MANY }, (_, i) =>
          product(2 * i + 1 + (i > MANY / 2 ? 1_000_000 : 0), { name: `${['desk', 'lamp', 'chair'][i % 3]} ${i}` }),
        );
        await store.addAll(all);
        const seen: Id[] = [];
        const removed = new Set<Id>();
        let from: Position | undefined;
        for (let round = 0; ; round++) {
          const filters = [searchFor('lamp')];
          const reading = store.products.list(query({ limit: 150, filters, ...(from && { from }) }));
          const gone = all[(round * 97) % MANY] as Versioned<unknown>;
          removed.add(gone.id);
          const writing = Promise.all([
            store.products.removeAll([{ id: gone.id, expected: 1, at: AT }]),
            store.products.insertAll([product(2_000_000 + round, { name: 'lamp' })]),
          ]);
          const [{ records, hasMore }] = await Promise.all([reading, writing]);
          seen.push(...idsOf(records));
          const last = records.at(-1);
          if (!last || !hasMore) break;
          from = { side: 'after', inclusive: false, values: [last.id] };
        }
        const steady = (ids: Id[]) => ids.filter((id) => id < 2_000_000 && !removed.has(id));
        const lamps = all.filter(({ fields }) => fields.name.startsWith('lamp'));
        expect(steady(seen)).to.deep.equal(steady(idsOf(lamps)));
        expect(new Set(seen)).to.have.length(seen.length);
      });
  });
}
