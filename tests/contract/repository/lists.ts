import { expect } from 'chai';
import type { Filter } from '#src/application/ports/list-query.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import { AT, at, idsOf, next, product, query } from './records.js';
import type { TestStore } from './test-store.js';

const tag = (value: string): Filter => ({ field: 'tags', operator: 'eq', value });
const oneOf = (...values: string[]): Filter => ({ field: 'tags', operator: 'in', values });
const beginning = (value: string): Filter => ({ field: 'tags', operator: 'prefix', value });

/** Of every five records one has no tags. A record has up to three tags that begin with `mod/`. */
function tagged(id: Id): Versioned<Product> {
  const mod = `mod/${id % 3}`;
  const tags = ['common', id % 2 === 0 ? 'even' : 'odd', mod, ...(id % 4 === 0 ? [`${mod}/a`, `${mod}/b`] : [])];
  return product(id, id % 5 === 0 ? {} : { tags });
}

/** Lists by filters of tags while the records are written. `queryProperty` has what lists return of data at rest. */
export function listContract(store: TestStore): void {
  describe('filters of lists', () => {
    it('find the tags of the latest version, and no deleted record', async () => {
      const old = await store.add(1, { tags: ['kept', 'left', 'x'] });
      await store.add(2, { tags: ['kept', 'left'] });
      await store.products.replaceAll([{ record: next(old, { tags: ['new', 'kept'] }), expected: 1 }]);
      expect(await store.ids({ filters: [tag('kept')] })).to.deep.equal([1, 2]);
      expect(await store.ids({ filters: [oneOf('left', 'x')] })).to.deep.equal([2]);
      expect(await store.products.removeAll([{ id: 2, expected: 1, at: AT }])).to.deep.equal([true]);
      for (const filter of [tag('left'), oneOf('left', 'x'), beginning('l')]) {
        expect(await store.ids({ filters: [filter] })).to.deep.equal([]);
        expect(await store.products.count([filter])).to.equal(0);
      }
    });

    it('keep the tags of a record whose write is refused', async () => {
      const old = await store.add(1, { tags: ['a'], sku: 's1' });
      await store.add(2, { tags: ['b'], sku: 's2' });
      const taken = { record: next(old, { tags: ['c'], sku: 's2' }), expected: 1 };
      expect((await store.products.replaceAll([taken]))[0]).to.be.instanceOf(Error);
      expect(await store.ids({ filters: [tag('a')] })).to.deep.equal([1]);
      expect(await store.ids({ filters: [tag('c')] })).to.deep.equal([]);
    });

    for (const [name, filters] of [
      ['a tag', [tag('common')]],
      ['some tags', [oneOf('even', 'mod/1')]],
      ['a prefix', [beginning('mod/')]],
      ['two tags', [tag('common'), tag('even')]],
    ] as const)
      it(`show each record that keeps its tags exactly once while others write: ${name}`, async () => {
        const isSteady = (id: Id) => id % 4 !== 0;
        const all = Array.from({ length: 60 }, (_, i) => tagged(2 + 2 * i));
        const [steady, leaving] = [isSteady, (id: Id) => !isSteady(id)].map((isOne) =>
          all.filter(({ id }) => isOne(id)),
        ) as [Versioned<Product>[], Versioned<Product>[]];
        await store.addAll(all);
        const writeConcurrently = async (round: number) => {
          const edited = await store.products.find(steady[(round * 7) % steady.length]?.id ?? 0);
          if (!edited) throw new Error('A steady record is missing.');
          const { version, fields } = edited;
          const changed = { ...fields, tags: [`new/${round}`, ...(fields.tags ?? [])] };
          const edit = { record: { ...edited, version: version + 1, fields: changed }, expected: version };
          const gone = leaving[(round * 11) % leaving.length]?.id ?? 0;
          await Promise.all([
            store.products.insertAll([tagged(2 * round + 1)]),
            store.products.removeAll([{ id: gone, expected: 1, at: AT }]),
            fields.tags && store.products.replaceAll([edit]),
          ]);
        };
        const seen: Id[] = [];
        let from = at('after', 0);
        for (let round = 0; ; round++) {
          const [{ records, hasMore }] = await Promise.all([
            store.products.list(query({ filters, limit: 4, from })),
            writeConcurrently(round),
          ]);
          seen.push(...idsOf(records));
          const last = records.at(-1);
          if (!last || !hasMore) break;
          from = at('after', last.id);
        }
        const expected = steady.filter(({ fields }) => fields.tags);
        expect(seen.filter((id) => id % 2 === 0 && isSteady(id))).to.deep.equal(idsOf(expected));
        expect(new Set(seen)).to.have.length(seen.length);
      });
  });
}
