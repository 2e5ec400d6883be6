import { expect } from 'chai';
import type { Filter } from '#src/application/ports/list-query.js';
import { AT, by, next, product } from './records.js';
import type { TestStore } from './test-store.js';

const tag = (value: string): Filter => ({ field: 'tags', operator: 'eq', value });
const oneOf = (...values: string[]): Filter => ({ field: 'tags', operator: 'in', values });
const beginning = (value: string): Filter => ({ field: 'tags', operator: 'prefix', value });

/** Lists after writes. `queryProperty` has what lists return of any data at rest. */
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

    for (const [sort, ...values] of [
      ['id', 2],
      ['name,id', 'b', 2],
      ['-name,id', 'b', 2],
      ['name,stock,id', 'b', 5, 2],
    ] as const)
      it(`begin at the record of a position that is inclusive, else behind it: by ${sort}`, async () => {
        await store.addAll([1, 2, 3].map((id) => product(id, { name: 'b', stock: 5 })));
        const ids = (side: 'after' | 'before', inclusive: boolean) =>
          store.ids({ order: by(sort), from: { side, inclusive, values } });
        expect([await ids('after', true), await ids('after', false)]).to.deep.equal([[2, 3], [3]]);
        expect([await ids('before', true), await ids('before', false)]).to.deep.equal([[1, 2], [1]]);
      });
  });
}
