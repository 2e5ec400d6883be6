import { expect } from 'chai';
import { AT, next, product } from './records.js';
import type { TestStore } from './test-store.js';

export function writeContract(store: TestStore): void {
  describe('replace', () => {
    it('replaces the expected version with the new record', async () => {
      const old = await store.add(1, { description: 'old', sku: 'x' });
      const replacement = next(old, { name: 'new' });
      expect(await store.products.replaceAll([{ record: replacement, expected: 1 }])).to.deep.equal(['replaced']);
      expect(await store.products.find(1)).to.deep.equal(replacement);
      expect(await store.products.findByUnique('sku', 'x')).to.equal(undefined);
    });

    it('changes nothing if the version differs or the record is missing', async () => {
      const old = await store.add(1);
      expect(await store.products.replaceAll([{ record: next(old, { name: 'late' }), expected: 2 }])).to.deep.equal([
        'version_conflict',
      ]);
      expect(await store.products.replaceAll([{ record: product(9), expected: 1 }])).to.deep.equal([
        'version_conflict',
      ]);
      expect(await store.products.find(1)).to.deep.equal(old);
      expect(await store.products.find(9)).to.equal(undefined);
    });

    // A store may collect writers while others of other records are served.
    it('lets exactly one of many concurrent writers win, also behind writers of other records', async () => {
      const old = await store.add(1);
      const others = await Promise.all([2, 3, 4, 5].map((id) => store.add(id)));
      const replaced = (record: typeof old, name: string) =>
        store.products.replaceAll([{ record: next(record, { name }), expected: 1 }]);
      const first = others.map((other) => replaced(other, 'other'));
      const outcomes = await Promise.all(Array.from({ length: 20 }, (_, i) => replaced(old, `writer ${i}`)));
      expect((await Promise.all(first)).flat()).to.deep.equal(Array(4).fill('replaced'));
      expect(outcomes.flat().toSorted()).to.deep.equal(['replaced', ...Array(19).fill('version_conflict')]);
      const winner = await store.products.find(1);
      expect(winner?.version).to.equal(2);
      expect(winner?.fields.name).to.equal(`writer ${outcomes.flat().indexOf('replaced')}`);
    });
  });

  it('find no version of a deleted record, that of its deletion neither', async () => {
    const old = await store.add(1);
    await store.products.removeAll([{ id: 1, expected: 1, at: AT }]);
    const record = { ...next(old, {}), version: 3 };
    expect(await store.products.replaceAll([{ record, expected: 2 }])).to.deep.equal(['version_conflict']);
    expect(await store.products.confirmAll([{ id: 1, version: 2 }])).to.deep.equal([false]);
    expect(await store.products.removeAll([{ id: 1, expected: 2, at: AT }])).to.deep.equal([false]);
    expect(await store.products.find(1)).to.equal(undefined);
  });

  describe('confirm', () => {
    it('is true for the version that the record has, and for no other', async () => {
      const old = await store.add(1);
      const confirmed = () => store.products.confirmAll([1, 2].map((version) => ({ id: 1, version })));
      expect(await confirmed()).to.deep.equal([true, false]);
      await store.products.replaceAll([{ record: next(old, {}), expected: 1 }]);
      expect(await confirmed()).to.deep.equal([false, true]);
      await store.products.removeAll([{ id: 1, expected: 2, at: AT }]);
      expect(await confirmed()).to.deep.equal([false, false]);
    });
  });

  describe('remove', () => {
    it('removes the record from all results, and frees its unique values', async () => {
      await store.add(1, { sku: 'x' });
      expect(await store.products.removeAll([{ id: 1, expected: 1, at: AT }])).to.deep.equal([true]);
      expect(await store.products.find(1)).to.equal(undefined);
      expect(await store.products.findByUnique('sku', 'x')).to.equal(undefined);
      expect(await store.ids({})).to.deep.equal([]);
      expect(await store.products.count([])).to.equal(0);
      await store.add(2, { sku: 'x' });
    });

    it('keeps the id in use', async () => {
      const record = await store.add(1);
      await store.products.removeAll([{ id: 1, expected: 1, at: AT }]);
      expect(await store.products.insertAll([record])).to.deep.equal(['id_conflict']);
      expect(await store.products.replaceAll([{ record: next(record, {}), expected: 1 }])).to.deep.equal([
        'version_conflict',
      ]);
      expect(await store.products.find(1)).to.equal(undefined);
    });

    it('changes nothing if the version differs or the record is missing', async () => {
      const record = await store.add(1);
      expect(await store.products.removeAll([{ id: 1, expected: 2, at: AT }])).to.deep.equal([false]);
      expect(await store.products.removeAll([{ id: 2, expected: 1, at: AT }])).to.deep.equal([false]);
      expect(await store.products.find(1)).to.deep.equal(record);
    });

    it('lets exactly one of many concurrent deletions win', async () => {
      await store.add(1);
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () => store.products.removeAll([{ id: 1, expected: 1, at: AT }])),
      );
      expect(outcomes.flat().filter(Boolean)).to.have.length(1);
    });

    it('lets exactly one of a concurrent deletion and replacement win', async () => {
      const old = await store.add(1);
      const [[removed], [replaced]] = await Promise.all([
        store.products.removeAll([{ id: 1, expected: 1, at: AT }]),
        store.products.replaceAll([{ record: next(old, {}), expected: 1 }]),
      ]);
      expect(replaced).to.equal(removed ? 'version_conflict' : 'replaced');
      expect((await store.products.find(1))?.version).to.equal(removed ? undefined : 2);
    });
  });
}
