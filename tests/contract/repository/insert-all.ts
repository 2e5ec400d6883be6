import { expect } from 'chai';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import { list } from '../../support/list.js';
import { AT, outcomeText, product, query, user } from './records.js';
import type { TestStore } from './test-store.js';

export function insertAllContract(store: TestStore): void {
  const outcomes = async (records: readonly Versioned<Product>[]): Promise<string[]> =>
    (await store.products.insertAll(records)).map(outcomeText);

  describe('insertAll', () => {
    it('inserts all records unchanged, and returns an outcome for each', async () => {
      const full = product(7, {
        name: `'; DROP TABLE products; -- "$ne" %_ .* \\ é 😀 \u{10ffff} \ue000 e\u0301`,
        description: 'tab\tline\r\nend',
        sku: 'A.b_c-1',
        price: { amount: Number.MAX_SAFE_INTEGER, currency: 'EUR' },
        attributes: { 'a.b': 'dot', $set: true, ':c': 0.1, constructor: '', toString: -5, 'é/~"\\': '%' },
      });
      const records = [product(Number.MAX_SAFE_INTEGER, { sku: 'c' }), full, product(1)];
      expect(await outcomes(records)).to.deep.equal(['inserted', 'inserted', 'inserted']);
      for (const record of records) expect(await store.products.find(record.id)).to.deep.equal(record);
      expect(await store.products.find(2)).to.equal(undefined);
    });

    it('gives an id to exactly one of many concurrent insertions', async () => {
      const all = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store.products.insertAll([product(1, { name: `writer ${i}` })])),
      );
      expect(all.flat().toSorted()).to.deep.equal([...Array(19).fill('id_conflict'), 'inserted']);
      expect((await store.products.find(1))?.fields.name).to.equal(`writer ${all.flat().indexOf('inserted')}`);
    });

    it('makes copies, or records that cannot be changed', async () => {
      const fields = { sku: 'x', price: { amount: 1, currency: 'EUR' }, attributes: { colour: 'red' } };
      const unchanged = structuredClone(await store.add(1, fields));
      const found = [
        await store.products.find(1),
        await store.products.findByUnique('sku', 'x'),
        ...(await store.products.findAllByUnique('sku', ['x'])),
        ...(await store.products.list(query({ limit: 1 }))).records,
      ];
      for (const record of found)
        for (const part of [record, record?.fields, record?.fields.price, record?.fields.attributes])
          for (const name of Object.keys(part ?? {})) Reflect.set(part ?? {}, name, 'changed');
      expect(await store.products.find(1)).to.deep.equal(unchanged);
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
      expect(await outcomes(batch)).to.deep.equal(
        list`inserted  id_conflict  duplicate_value /sku  id_conflict  duplicate_value /sku  id_conflict  inserted`,
      );
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
      const batch = [product(1, { sku: 'a' }), product(2, { sku: 'a' })];
      expect(await outcomes(batch)).to.deep.equal(['id_conflict', 'inserted']);
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
      for (const n of [0, 1, 2, 3, 4]) expect(results.filter((result) => result[n] === 'inserted')).to.have.length(1);
      expect(await store.ids({})).to.have.length(5);
    });

    it('inserts a thousand records at once', async () => {
      const ids: Id[] = Array.from({ length: 1_000 }, (_, i) => i + 1);
      await store.addAll(ids.map((id) => product(id, { sku: `${id}` })));
      expect(await store.ids({ limit: 1_000 })).to.deep.equal(ids);
    });
  });

  describe('findExistingIds and findUsedIds', () => {
    const remove = (...ids: Id[]) => store.products.removeAll(ids.map((id) => ({ id, expected: 1, at: AT })));

    it('find ids of records, and of deleted records too, of their own resource alone', async () => {
      const [last, wanted] = [Number.MAX_SAFE_INTEGER, [5, 4, 3, 2, 1, 3]];
      for (const id of [1, 3, 4, last - 1, last]) await store.add(id);
      await remove(4, last);
      const { products, users } = store;
      expect(await products.findExistingIds([...wanted, last - 1, last])).to.deep.equal(new Set([3, 1, last - 1]));
      expect(await products.findUsedIds([...wanted, last - 1, last])).to.deep.equal(new Set([4, 3, 1, last - 1, last]));
      for (const found of [users.findExistingIds(wanted), users.findUsedIds(wanted), products.findExistingIds([])])
        expect(await found).to.deep.equal(new Set());
      expect(await products.findUsedIds([])).to.deep.equal(new Set());
    });

    it('accept a thousand ids', async () => {
      const ids = Array.from({ length: 1_000 }, (_, i) => i + 1);
      const [used, removed] = [ids.filter((id) => id % 2 === 0), [2, 500, 1_000]];
      await store.addAll(used.map((id) => product(id)));
      await remove(...removed);
      expect(await store.products.findUsedIds(ids)).to.deep.equal(new Set(used));
      expect(await store.products.findExistingIds(ids)).to.deep.equal(
        new Set(used.filter((id) => !removed.includes(id))),
      );
    });
  });

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
