import { expect } from 'chai';
import type { TestStore } from './test-store.js';

export function idContract(store: TestStore): void {
  describe('ids', () => {
    it('reserves ascending blocks that never overlap, for concurrent callers', async () => {
      const firsts = await Promise.all(Array.from({ length: 50 }, () => store.products.reserveIds(3)));
      expect(firsts.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 50 }, (_, i) => 1 + 3 * i));
    });

    it('counts each resource separately', async () => {
      expect(await store.products.reserveIds(10)).to.equal(1);
      expect(await store.users.reserveIds(1)).to.equal(1);
    });

    it('releases the end of the last block, and reserves it again', async () => {
      expect(await store.products.reserveIds(10)).to.equal(1);
      await store.products.releaseIds(4, 11);
      expect(await store.products.reserveIds(1)).to.equal(4);
    });

    it('releases nothing once a later block is reserved', async () => {
      await store.products.reserveIds(10);
      await store.products.reserveIds(10);
      await store.products.releaseIds(4, 11);
      expect(await store.products.reserveIds(1)).to.equal(21);
    });
  });
}
