import { expect } from 'chai';
import { product, query } from './records.js';
import type { TestStore } from './test-store.js';

export function insertContract(store: TestStore): void {
  describe('insert and find', () => {
    it('returns an inserted record unchanged', async () => {
      const record = await store.add(7, {
        name: `'; DROP TABLE products; -- "$ne" %_ .* \\ é 😀 \u{10ffff} \ue000 e\u0301`,
        description: 'tab\tline\r\nend',
        sku: 'A.b_c-1',
        price: { amount: Number.MAX_SAFE_INTEGER, currency: 'EUR' },
        attributes: { 'a.b': 'dot', $set: true, ':c': 0.1, constructor: '', toString: -5, 'é/~"\\': '%' },
      });
      expect(await store.products.find(7)).to.deep.equal(record);
    });

    it('finds nothing by an unused id', async () => {
      await store.add(1);
      expect(await store.products.find(2)).to.equal(undefined);
      expect(await store.products.find(Number.MAX_SAFE_INTEGER)).to.equal(undefined);
    });

    it('accepts the smallest and the largest id', async () => {
      await store.add(1);
      await store.add(Number.MAX_SAFE_INTEGER);
      expect(await store.ids({})).to.deep.equal([1, Number.MAX_SAFE_INTEGER]);
    });

    it('rejects an existing id, and keeps the old record', async () => {
      const old = await store.add(1, { sku: 'same' });
      expect(await store.products.insertAll([product(1, { name: 'other', sku: 'same' })])).to.deep.equal([
        'id_conflict',
      ]);
      expect(await store.products.find(1)).to.deep.equal(old);
    });

    it('gives an id to exactly one of many concurrent insertions', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store.products.insertAll([product(1, { name: `writer ${i}` })])),
      );
      expect(outcomes.flat().toSorted()).to.deep.equal([...Array(19).fill('id_conflict'), 'inserted']);
      const winner = outcomes.flat().indexOf('inserted');
      expect((await store.products.find(1))?.fields.name).to.equal(`writer ${winner}`);
    });

    it('returns records that are copies or cannot be changed', async () => {
      const fields = { sku: 'x', price: { amount: 1, currency: 'EUR' }, attributes: { colour: 'red' } };
      const unchanged = structuredClone(await store.add(1, fields));
      const found = [
        await store.products.find(1),
        await store.products.findByUnique('sku', 'x'),
        ...(await store.products.findAllByUnique('sku', ['x'])),
        ...(await store.products.list(query({ limit: 1 }))).records,
      ];
      for (const record of found) {
        const { fields } = record ?? {};
        for (const part of [record, fields, fields?.price, fields?.attributes])
          for (const name of Object.keys(part ?? {})) tryToChange(part as Record<string, unknown>, name);
      }
      expect(await store.products.find(1)).to.deep.equal(unchanged);
    });
  });
}

/** Changes a member if the object lets it. */
function tryToChange(object: Record<string, unknown>, name: string): void {
  Reflect.set(object, name, 'changed');
}
