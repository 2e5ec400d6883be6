import { expect } from 'chai';
import { AT, next, product } from './records.js';
import type { TestStore } from './test-store.js';

export function writeContract(store: TestStore): void {
  describe('replace', () => {
    it('replaces the expected version with the new record', async () => {
      const old = await store.add(1, { description: 'old', sku: 'x' });
      const replacement = next(old, { name: 'new' });
      expect(await store.products.replace(replacement, 1)).to.equal(true);
      expect(await store.products.find(1)).to.deep.equal(replacement);
      expect(await store.products.findByUnique('sku', 'x')).to.equal(undefined);
    });

    it('changes nothing if the version differs or the record is missing', async () => {
      const old = await store.add(1);
      expect(await store.products.replace(next(old, { name: 'late' }), 2)).to.equal(false);
      expect(await store.products.replace(product(9), 1)).to.equal(false);
      expect(await store.products.find(1)).to.deep.equal(old);
      expect(await store.products.find(9)).to.equal(undefined);
    });

    it('lets exactly one of many concurrent writers win', async () => {
      const old = await store.add(1);
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store.products.replace(next(old, { name: `writer ${i}` }), 1)),
      );
      expect(outcomes.filter(Boolean)).to.have.length(1);
      const winner = await store.products.find(1);
      expect(winner?.version).to.equal(2);
      expect(winner?.fields.name).to.equal(`writer ${outcomes.indexOf(true)}`);
    });
  });

  describe('confirm', () => {
    it('is true for the version that the record has, and for no other', async () => {
      const old = await store.add(1);
      const confirmed = () => Promise.all([1, 2].map((version) => store.products.confirm(1, version)));
      expect(await confirmed()).to.deep.equal([true, false]);
      await store.products.replace(next(old, {}), 1);
      expect(await confirmed()).to.deep.equal([false, true]);
      await store.products.remove(1, 2, AT);
      expect(await confirmed()).to.deep.equal([false, false]);
    });
  });

  describe('remove', () => {
    it('removes the record from all results, and frees its unique values', async () => {
      await store.add(1, { sku: 'x' });
      expect(await store.products.remove(1, 1, AT)).to.equal(true);
      expect(await store.products.find(1)).to.equal(undefined);
      expect(await store.products.findByUnique('sku', 'x')).to.equal(undefined);
      expect(await store.ids({})).to.deep.equal([]);
      expect(await store.products.count([])).to.equal(0);
      await store.add(2, { sku: 'x' });
    });

    it('keeps the id in use', async () => {
      const record = await store.add(1);
      await store.products.remove(1, 1, AT);
      expect(await store.products.insert(record)).to.equal(false);
      expect(await store.products.replace(next(record, {}), 1)).to.equal(false);
      expect(await store.products.find(1)).to.equal(undefined);
    });

    it('changes nothing if the version differs or the record is missing', async () => {
      const record = await store.add(1);
      expect(await store.products.remove(1, 2, AT)).to.equal(false);
      expect(await store.products.remove(2, 1, AT)).to.equal(false);
      expect(await store.products.find(1)).to.deep.equal(record);
    });

    it('lets exactly one of many concurrent deletions win', async () => {
      await store.add(1);
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => store.products.remove(1, 1, AT)));
      expect(outcomes.filter(Boolean)).to.have.length(1);
    });

    it('lets exactly one of a concurrent deletion and replacement win', async () => {
      const old = await store.add(1);
      const [removed, replaced] = await Promise.all([
        store.products.remove(1, 1, AT),
        store.products.replace(next(old, {}), 1),
      ]);
      expect([removed, replaced].filter(Boolean)).to.have.length(1);
      expect((await store.products.find(1))?.version).to.equal(replaced ? 2 : undefined);
    });
  });
}
