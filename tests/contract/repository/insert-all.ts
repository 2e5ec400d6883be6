import { expect } from 'chai';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import { outcomeText } from './outcome-text.js';
import { AT, product, user } from './records.js';
import type { TestStore } from './test-store.js';

export function insertAllContract(store: TestStore): void {
  const outcomes = async (records: readonly Versioned<Product>[]): Promise<string[]> =>
    (await store.products.insertAll(records)).map(outcomeText);

  describe('insertAll', () => {
    it('inserts all records, and returns an outcome for each', async () => {
      const records = [product(3, { sku: 'c' }), product(1), product(2, { sku: 'b' })];
      expect(await outcomes(records)).to.deep.equal(['inserted', 'inserted', 'inserted']);
      for (const record of records) {
        expect(await store.products.find(record.id)).to.deep.equal(record);
      }
    });

    it('accepts an empty list', async () => {
      expect(await outcomes([])).to.deep.equal([]);
      expect(await store.ids({})).to.deep.equal([]);
    });

    it('inserts the other records if some are rejected, and returns outcomes in the order of the records', async () => {
      const existing = await store.add(5, { sku: 'existing' });
      await store.add(6);
      await store.products.removeAll([{ id: 6, expected: 1, at: AT }]);
      const batch = [
        product(1, { sku: 'a' }),
        product(5, { name: 'other' }),
        product(2, { sku: 'existing' }),
        product(6),
        product(3, { sku: 'a' }),
        product(1, { sku: 'b' }),
        product(4, { sku: 'b' }),
      ];
      expect(await outcomes(batch)).to.deep.equal([
        'inserted',
        'id_conflict',
        'duplicate_value /sku',
        'id_conflict',
        'duplicate_value /sku',
        'id_conflict',
        'inserted',
      ]);
      expect(await store.ids({})).to.deep.equal([1, 4, 5]);
      expect(await store.products.find(1)).to.deep.equal(batch[0]);
      expect(await store.products.find(5)).to.deep.equal(existing);
    });

    it('reports the id conflict if both the id and a unique value exist', async () => {
      await store.add(1, { sku: 'a' });
      expect(await outcomes([product(1, { sku: 'a' })])).to.deep.equal(['id_conflict']);
    });

    it('does not reserve the unique values of a rejected record', async () => {
      await store.add(1);
      expect(await outcomes([product(1, { sku: 'a' }), product(2, { sku: 'a' })])).to.deep.equal([
        'id_conflict',
        'inserted',
      ]);
    });

    it('compares unique values by the case sensitivity of their field', async () => {
      const batch = [user(1, 'Ann@x.org'), user(2, 'ann@X.org'), user(3, 'anna@x.org')];
      const outcomes = (await store.users.insertAll(batch)).map(outcomeText);
      expect(outcomes).to.deep.equal(['inserted', 'duplicate_value /email', 'inserted']);
    });

    it('gives each id and each unique value to exactly one of many concurrent batches', async () => {
      const batch = (writer: number) =>
        [1, 2, 3, 4, 5].map((n) => product(writer * 10 + n, { name: `writer ${writer}`, sku: `${n}` }));
      const results = await Promise.all([1, 2, 3, 4].map((writer) => outcomes(batch(writer))));
      for (const n of [0, 1, 2, 3, 4]) {
        expect(results.filter((result) => result[n] === 'inserted')).to.have.length(1);
      }
      expect(await store.ids({})).to.have.length(5);
    });

    it('inserts a thousand records at once', async () => {
      const ids: Id[] = Array.from({ length: 1_000 }, (_, i) => i + 1);
      await store.addAll(ids.map((id) => product(id, { sku: `${id}` })));
      expect(await store.ids({ limit: 1_000 })).to.deep.equal(ids);
    });
  });

  describe('findExistingIds', () => {
    it('returns the ids of existing records', async () => {
      for (const id of [1, 3, Number.MAX_SAFE_INTEGER]) await store.add(id);
      await store.add(4);
      await store.products.removeAll([{ id: 4, expected: 1, at: AT }]);
      expect(await store.products.findExistingIds([4, 3, 2, 1, 3, Number.MAX_SAFE_INTEGER])).to.deep.equal(
        new Set([3, 1, Number.MAX_SAFE_INTEGER]),
      );
      expect(await store.products.findExistingIds([2, 4])).to.deep.equal(new Set());
    });

    it('returns nothing for an empty list', async () => {
      await store.add(1);
      expect(await store.products.findExistingIds([])).to.deep.equal(new Set());
    });

    it('considers only its own resource', async () => {
      await store.add(1);
      expect(await store.users.findExistingIds([1])).to.deep.equal(new Set());
    });
  });

  describe('findUsedIds', () => {
    it('returns the ids of existing and deleted records', async () => {
      for (const id of [1, 3, 4, Number.MAX_SAFE_INTEGER]) await store.add(id);
      for (const id of [4, Number.MAX_SAFE_INTEGER]) await store.products.removeAll([{ id, expected: 1, at: AT }]);
      expect(await store.products.findUsedIds([5, 4, 3, 2, 1, 3, Number.MAX_SAFE_INTEGER])).to.deep.equal(
        new Set([4, 3, 1, Number.MAX_SAFE_INTEGER]),
      );
      expect(await store.products.findUsedIds([2, 5])).to.deep.equal(new Set());
    });

    it('returns nothing for an empty list', async () => {
      await store.add(1);
      expect(await store.products.findUsedIds([])).to.deep.equal(new Set());
    });

    it('considers only its own resource, also for tombstones', async () => {
      await store.add(1);
      await store.add(2);
      await store.products.removeAll([{ id: 2, expected: 1, at: AT }]);
      expect(await store.users.findUsedIds([1, 2])).to.deep.equal(new Set());
    });

    it('accepts a thousand ids of records and tombstones', async () => {
      const ids = Array.from({ length: 1_000 }, (_, i) => i + 1);
      await store.addAll(ids.filter((id) => id % 2 === 0).map((id) => product(id)));
      for (const id of [2, 500, 1_000]) await store.products.removeAll([{ id, expected: 1, at: AT }]);
      expect(await store.products.findUsedIds(ids)).to.deep.equal(new Set(ids.filter((id) => id % 2 === 0)));
    });

    it('returns an id as soon as its record exists', async () => {
      const outcomes = await Promise.all([
        store.products.insertAll([product(1)]),
        store.products.insertAll([product(1, { name: 'other' })]),
      ]);
      expect(outcomes.flat().toSorted()).to.deep.equal(['id_conflict', 'inserted']);
      expect(await store.products.findUsedIds([1])).to.deep.equal(new Set([1]));
    });
  });
}
