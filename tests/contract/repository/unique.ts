import { expect } from 'chai';
import type { Id } from '#src/domain/record.js';
import { AT, next, outcomeText, product, user } from './records.js';
import type { TestStore } from './test-store.js';

export function uniqueContract(store: TestStore): void {
  describe('unique fields', () => {
    it('reject a value of another record, and accept the id with another value', async () => {
      await store.add(1, { sku: 'taken' });
      expect((await store.products.insertAll([product(2, { sku: 'taken' })])).map(outcomeText)).to.deep.equal([
        'duplicate_value /sku',
      ]);
      expect(await store.products.find(2)).to.equal(undefined);
      await store.add(2, { sku: 'free' });
    });

    it('find a record by its literal value alone, and may be absent in any number of records', async () => {
      const [record, other] = [await store.add(1, { sku: 'A_1' }), await store.add(2, { sku: 'a_1' })];
      for (const id of [3, 4]) await store.add(id);
      const wrong = ['A%', 'A_', '.*', '', 'A_1 ', 'A_1\u0000', 'A_1"', "A_1'", '["A_1"]', 'é'];
      expect(await store.products.findAllByUnique('sku', [...wrong, 'A_1'])).to.deep.equal([
        ...wrong.map(() => undefined),
        record,
      ]);
      for (const value of wrong) expect(await store.products.findByUnique('sku', value), value).to.equal(undefined);
      expect(await store.products.findByUnique('sku', 'a_1')).to.deep.equal(other);
    });
  });

  describe('findAllByUnique', () => {
    const skus = (...values: string[]) => store.products.findAllByUnique('sku', values);
    const idsFound = async (found: ReturnType<typeof skus>) =>
      (await found).map((record): Id | undefined => record?.id);

    it('returns the records of the values, in the order of the values', async () => {
      const [one, two, three] = [
        await store.add(1, { sku: 'c', description: 'd', attributes: { a: 1 } }),
        await store.add(2, { sku: 'a' }),
        await store.add(3, { sku: 'b' }),
      ];
      await store.add(4);
      expect(await skus('b', 'none', 'c', 'a', 'b')).to.deep.equal([three, undefined, one, two, three]);
      expect(await store.products.findAllByUnique('id', [3, 5, 1, 3])).to.deep.equal([three, undefined, one, three]);
      for (const field of ['sku', 'id']) expect(await store.products.findAllByUnique(field, [])).to.deep.equal([]);
    });

    it('finds neither deleted records nor former values', async () => {
      const one = await store.add(1, { sku: 'a' });
      await store.add(2, { sku: 'b' });
      await store.products.replaceAll([{ record: next(one, { sku: 'c' }), expected: 1 }]);
      await store.products.removeAll([{ id: 2, expected: 1, at: AT }]);
      expect(await idsFound(skus('a', 'b', 'c'))).to.deep.equal([undefined, undefined, 1]);
      expect(await idsFound(store.products.findAllByUnique('id', [2, 1]))).to.deep.equal([undefined, 1]);
      for (const [field, value] of [
        ['sku', 'a'],
        ['sku', 'b'],
        ['id', 2],
      ] as const)
        expect(await store.products.findByUnique(field, value), `${value}`).to.equal(undefined);
    });

    it('finds some hundred values at once', async () => {
      const records = Array.from({ length: 300 }, (_, at) => product(at + 1, { sku: `s${at}` }));
      await store.addAll(records);
      const wanted = records.toReversed();
      expect(await skus(...wanted.map(({ fields }) => fields.sku ?? ''))).to.deep.equal(wanted);
    });
  });

  describe('unique fields that ignore case', () => {
    it('find a value in any case', async () => {
      const [ann, bob] = [user(1, 'Ann@x.org'), user(2, 'bob@x.org')];
      await store.addUsers([ann, bob, user(3, 'é@x')]);
      const emails = ['BOB@X.ORG', 'É@x', 'ann@x.org', 'Ann@x.org', 'ann'];
      const found = [bob, undefined, ann, ann, undefined];
      expect(await store.users.findAllByUnique('email', emails)).to.deep.equal(found);
      for (const [at, email] of emails.entries())
        expect(await store.users.findByUnique('email', email), email).to.deep.equal(found[at]);
    });

    it('keep the case of a value, and let its record change it', async () => {
      const ann = user(1, 'ann@x.org');
      await store.addUsers([ann]);
      const upperCased = { ...ann, version: 2, fields: { ...ann.fields, email: 'ANN@x.org' } };
      expect(await store.users.replaceAll([{ record: upperCased, expected: 1 }])).to.deep.equal(['replaced']);
      expect(await store.users.find(1)).to.deep.equal(upperCased);
      expect((await store.users.insertAll([user(2, 'ann@x.org')])).map(outcomeText)).to.deep.equal([
        'duplicate_value /email',
      ]);
      await store.users.removeAll([{ id: 1, expected: 2, at: AT }]);
      await store.addUsers([user(3, 'Ann@x.org')]);
    });

    it('fold only A to Z', async () => {
      await store.addUsers([user(1, 'é@x'), user(2, 'É@x'), user(3, 'k@x'), user(4, '\u212a@x')]);
      expect(await store.users.count([])).to.equal(4);
    });
  });
}
