import { expect } from 'chai';
import type { Opened } from './opened.js';
import { AT, next, product } from './records.js';

export function writeContract(store: Opened): void {
  describe('replace', () => {
    it('puts the new record in the place of the expected version', async () => {
      const old = await store.add(1, { description: 'old', sku: 'x' });
      const replacement = next(old, { name: 'new' });
      expect(await store.products.replace(replacement, 1)).to.equal(true);
      expect(await store.products.find(1)).to.deep.equal(replacement);
      expect(await store.products.findByUnique('sku', 'x')).to.equal(undefined);
    });

    it('leaves the record where its version is another, or where there is none', async () => {
      const old = await store.add(1);
      expect(await store.products.replace(next(old, { name: 'late' }), 2)).to.equal(false);
      expect(await store.products.replace(product(9), 1)).to.equal(false);
      expect(await store.products.find(1)).to.deep.equal(old);
      expect(await store.products.find(9)).to.equal(undefined);
    });

    it('lets exactly one of many racing writers win', async () => {
      const old = await store.add(1);
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store.products.replace(next(old, { name: `racer ${i}` }), 1)),
      );
      expect(outcomes.filter(Boolean)).to.have.length(1);
      const won = await store.products.find(1);
      expect(won?.version).to.equal(2);
      expect(won?.fields.name).to.equal(`racer ${outcomes.indexOf(true)}`);
    });

    it('keeps its own copy, from the moment of the call', async () => {
      const old = await store.add(1);
      const replacement = next(old, { attributes: { colour: 'red' } });
      const replaced = store.products.replace(replacement, 1);
      (replacement.fields.attributes as Record<string, unknown>)['colour'] = 'blue';
      expect(await replaced).to.equal(true);
      expect((await store.products.find(1))?.fields.attributes).to.deep.equal({ colour: 'red' });
    });
  });

  describe('remove', () => {
    it('takes the record out of every answer and frees its unique values', async () => {
      await store.add(1, { sku: 'x' });
      expect(await store.products.remove(1, 1, AT)).to.equal(true);
      expect(await store.products.find(1)).to.equal(undefined);
      expect(await store.products.findByUnique('sku', 'x')).to.equal(undefined);
      expect(await store.ids({})).to.deep.equal([]);
      expect(await store.products.count([])).to.equal(0);
      await store.add(2, { sku: 'x' });
    });

    it('keeps the id taken', async () => {
      const record = await store.add(1);
      await store.products.remove(1, 1, AT);
      expect(await store.products.insert(record)).to.equal(false);
      expect(await store.products.replace(next(record, {}), 1)).to.equal(false);
      expect(await store.products.find(1)).to.equal(undefined);
    });

    it('leaves the record where its version is another, or where there is none', async () => {
      const record = await store.add(1);
      expect(await store.products.remove(1, 2, AT)).to.equal(false);
      expect(await store.products.remove(2, 1, AT)).to.equal(false);
      expect(await store.products.find(1)).to.deep.equal(record);
    });

    it('lets exactly one of many racing deletions win', async () => {
      await store.add(1);
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => store.products.remove(1, 1, AT)));
      expect(outcomes.filter(Boolean)).to.have.length(1);
    });

    it('lets exactly one of a racing deletion and replacement win', async () => {
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
