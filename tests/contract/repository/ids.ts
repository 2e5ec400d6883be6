import { expect } from 'chai';
import type { Opened } from './opened.js';

export function idContract(store: Opened): void {
  describe('ids', () => {
    it('sets aside ascending blocks that never overlap, however many ask at once', async () => {
      const firsts = await Promise.all(Array.from({ length: 50 }, () => store.products.reserveIds(3)));
      expect(firsts.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 50 }, (_, i) => 1 + 3 * i));
    });

    it('counts for each resource by itself', async () => {
      expect(await store.products.reserveIds(10)).to.equal(1);
      expect(await store.users.reserveIds(1)).to.equal(1);
    });

    it('takes back the end of the last block, and gives it out again', async () => {
      expect(await store.products.reserveIds(10)).to.equal(1);
      await store.products.releaseIds(4, 11);
      expect(await store.products.reserveIds(1)).to.equal(4);
    });

    it('takes nothing back once a later block is out', async () => {
      await store.products.reserveIds(10);
      await store.products.reserveIds(10);
      await store.products.releaseIds(4, 11);
      expect(await store.products.reserveIds(1)).to.equal(21);
    });
  });
}
