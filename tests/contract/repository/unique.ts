import { expect } from 'chai';
import { expectRefusal } from '../../support/expect-refusal.js';
import type { Opened } from './opened.js';
import { next, product, query, user } from './records.js';

export function uniqueContract(store: Opened): void {
  describe('unique fields', () => {
    it('refuses a value that another record has, and names the field', async () => {
      await store.add(1, { sku: 'taken' });
      await expectRefusal(store.products.insert(product(2, { sku: 'taken' })), 'duplicate_value', ['/sku']);
      expect(await store.products.find(2)).to.equal(undefined);
    });

    it('lets the id that was refused be used for another value', async () => {
      await store.add(1, { sku: 'taken' });
      await expectRefusal(store.products.insert(product(2, { sku: 'taken' })), 'duplicate_value', ['/sku']);
      await store.add(2, { sku: 'free' });
    });

    it('refuses it in a replacement too, and leaves the old record', async () => {
      await store.add(1, { sku: 'taken' });
      const old = await store.add(2, { sku: 'mine' });
      const late = store.products.replace(next(old, { sku: 'taken' }), 1);
      await expectRefusal(late, 'duplicate_value', ['/sku']);
      expect(await store.products.find(2)).to.deep.equal(old);
      expect(await store.products.findByUnique('sku', 'mine')).to.deep.equal(old);
    });

    it('tells values apart by case, and lets any number of records have none', async () => {
      await store.add(1, { sku: 'a' });
      await store.add(2, { sku: 'A' });
      await store.add(3);
      await store.add(4);
      expect(await store.ids({})).to.deep.equal([1, 2, 3, 4]);
    });

    it('lets a record keep its own value, and frees the value that it gives up', async () => {
      const one = await store.add(1, { sku: 'a' });
      const same = next(one, { name: 'renamed', sku: 'a' });
      expect(await store.products.replace(same, 1)).to.equal(true);
      expect(await store.products.replace(next(same, { sku: 'b' }), 2)).to.equal(true);
      await store.add(2, { sku: 'a' });
    });

    it('lets exactly one of many racing records have a value', async () => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => store.products.insert(product(i + 1, { sku: 'one' }))),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
      expect(await store.ids({})).to.have.length(1);
    });

    it('finds a record by its value, taken literally', async () => {
      const record = await store.add(1, { sku: 'A_1' });
      await store.add(2, { sku: 'A.1' });
      expect(await store.products.findByUnique('sku', 'A_1')).to.deep.equal(record);
      for (const other of ['a_1', 'A%', 'A_', '.*', '', 'A_1 ', 'A_1\u0000']) {
        expect(await store.products.findByUnique('sku', other), other).to.equal(undefined);
      }
    });
  });

  describe('unique fields that ignore case', () => {
    it('refuse a value that differs from another by its case alone, and name the field', async () => {
      await store.addUsers([user(1, 'Ann@Example.org')]);
      await expectRefusal(store.users.insert(user(2, 'aNN@eXAMPLE.org')), 'duplicate_value', ['/email']);
      const bob = user(3, 'bob@example.org');
      await store.addUsers([bob]);
      const late = { ...bob, version: 2, fields: { ...bob.fields, email: 'ANN@example.ORG' } };
      await expectRefusal(store.users.replace(late, 1), 'duplicate_value', ['/email']);
      expect((await store.users.list(query({}))).records).to.deep.equal([user(1, 'Ann@Example.org'), bob]);
    });

    it('keep a value as it was sent, and let its record change the case', async () => {
      const ann = user(1, 'ann@x.org');
      await store.addUsers([ann]);
      const louder = { ...ann, version: 2, fields: { ...ann.fields, email: 'ANN@x.org' } };
      expect(await store.users.replace(louder, 1)).to.equal(true);
      expect(await store.users.find(1)).to.deep.equal(louder);
      await expectRefusal(store.users.insert(user(2, 'ann@x.org')), 'duplicate_value', ['/email']);
    });

    it('let exactly one of many racing records have a value, whatever its case', async () => {
      const spellings = ['ann@x.org', 'Ann@x.org', 'aNn@x.org', 'anN@X.ORG', 'ANN@X.ORG'];
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => store.users.insert(user(i + 1, spellings[i % 5] ?? ''))),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
      expect(await store.users.count([])).to.equal(1);
    });

    it('know the case of A to Z alone', async () => {
      await store.addUsers([user(1, 'é@x'), user(2, 'É@x'), user(3, 'k@x'), user(4, '\u212a@x')]);
      expect(await store.users.count([])).to.equal(4);
    });
  });
}
