import { expect } from 'chai';
import type { Id } from '#src/domain/record.js';
import { outcomeText } from './outcome-text.js';
import { AT, next, product, query, user } from './records.js';
import type { TestStore } from './test-store.js';

export function uniqueContract(store: TestStore): void {
  describe('unique fields', () => {
    it('rejects a value of another record, and names the field', async () => {
      await store.add(1, { sku: 'taken' });
      expect((await store.products.insertAll([product(2, { sku: 'taken' })])).map(outcomeText)).to.deep.equal([
        'duplicate_value /sku',
      ]);
      expect(await store.products.find(2)).to.equal(undefined);
    });

    it('accepts the id of a rejected record with another value', async () => {
      await store.add(1, { sku: 'taken' });
      expect((await store.products.insertAll([product(2, { sku: 'taken' })])).map(outcomeText)).to.deep.equal([
        'duplicate_value /sku',
      ]);
      await store.add(2, { sku: 'free' });
    });

    it('rejects it in a replacement too, and leaves the old record unchanged', async () => {
      await store.add(1, { sku: 'taken' });
      const old = await store.add(2, { sku: 'mine' });
      const late = store.products.replaceAll([{ record: next(old, { sku: 'taken' }), expected: 1 }]);
      expect((await late).map(outcomeText)).to.deep.equal(['duplicate_value /sku']);
      expect(await store.products.find(2)).to.deep.equal(old);
      expect(await store.products.findByUnique('sku', 'mine')).to.deep.equal(old);
    });

    it('distinguishes values by case, and accepts any number of records without a value', async () => {
      await store.add(1, { sku: 'a' });
      await store.add(2, { sku: 'A' });
      await store.add(3);
      await store.add(4);
      expect(await store.ids({})).to.deep.equal([1, 2, 3, 4]);
    });

    it('accepts an unchanged value in a replacement, and frees a replaced value', async () => {
      const one = await store.add(1, { sku: 'a' });
      const same = next(one, { name: 'renamed', sku: 'a' });
      expect(await store.products.replaceAll([{ record: same, expected: 1 }])).to.deep.equal(['replaced']);
      expect(await store.products.replaceAll([{ record: next(same, { sku: 'b' }), expected: 2 }])).to.deep.equal([
        'replaced',
      ]);
      await store.add(2, { sku: 'a' });
    });

    it('gives a value to exactly one of many concurrent records', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store.products.insertAll([product(i + 1, { sku: 'one' })])),
      );
      expect(outcomes.flat().filter((outcome) => outcome === 'inserted')).to.have.length(1);
      expect(await store.ids({})).to.have.length(1);
    });

    it('finds a record by its literal value', async () => {
      const record = await store.add(1, { sku: 'A_1' });
      await store.add(2, { sku: 'A.1' });
      expect(await store.products.findByUnique('sku', 'A_1')).to.deep.equal(record);
      for (const other of ['a_1', 'A%', 'A_', '.*', '', 'A_1 ', 'A_1\u0000']) {
        expect(await store.products.findByUnique('sku', other), other).to.equal(undefined);
      }
    });
  });

  describe('findByUnique', () => {
    it('finds a record by its id, and no deleted one', async () => {
      const record = await store.add(7);
      await store.add(8);
      await store.products.removeAll([{ id: 8, expected: 1, at: AT }]);
      expect(await store.products.findByUnique('id', 7)).to.deep.equal(record);
      for (const id of [8, 9, 0]) expect(await store.products.findByUnique('id', id)).to.equal(undefined);
      expect(await store.users.findByUnique('id', 7)).to.equal(undefined);
    });
  });

  describe('findAllByUnique', () => {
    const skus = (...values: string[]) => store.products.findAllByUnique('sku', values);

    it('returns the records of the values, in the order of the values', async () => {
      const [one, two, three] = [
        await store.add(1, { sku: 'c', description: 'd', attributes: { a: 1 } }),
        await store.add(2, { sku: 'a' }),
        await store.add(3, { sku: 'b' }),
      ];
      await store.add(4);
      expect(await skus('b', 'none', 'c', 'a', 'b')).to.deep.equal([three, undefined, one, two, three]);
      expect(await store.products.findAllByUnique('id', [3, 5, 1, 3])).to.deep.equal([three, undefined, one, three]);
    });

    it('returns nothing for an empty list', async () => {
      await store.add(1);
      expect(await skus()).to.deep.equal([]);
      expect(await store.products.findAllByUnique('id', [])).to.deep.equal([]);
    });

    it('finds neither deleted records nor former values', async () => {
      const one = await store.add(1, { sku: 'a' });
      await store.add(2, { sku: 'b' });
      await store.products.replaceAll([{ record: next(one, { sku: 'c' }), expected: 1 }]);
      await store.products.removeAll([{ id: 2, expected: 1, at: AT }]);
      expect(idsFound(await skus('a', 'b', 'c'))).to.deep.equal([undefined, undefined, 1]);
      expect(idsFound(await store.products.findAllByUnique('id', [2, 1]))).to.deep.equal([undefined, 1]);
    });

    it('finds a record by its literal value', async () => {
      await store.add(1, { sku: 'A_1' });
      const others = ['a_1', 'A%', 'A_', '.*', '', 'A_1 ', 'A_1\u0000', 'A_1"', "A_1'", '["A_1"]', 'é'];
      expect(idsFound(await skus(...others, 'A_1'))).to.deep.equal([...others.map(() => undefined), 1]);
    });

    it('finds a value in any case if its field ignores case', async () => {
      const [ann, bob] = [user(1, 'Ann@x.org'), user(2, 'bob@x.org')];
      await store.addUsers([ann, bob, user(3, 'é@x')]);
      expect(
        await store.users.findAllByUnique('email', ['BOB@X.ORG', 'É@x', 'ann@x.org', 'Ann@x.org', 'ann']),
      ).to.deep.equal([bob, undefined, ann, ann, undefined]);
      for (const email of ['Ann@x.org', 'aNN@X.org'])
        expect(await store.users.findByUnique('email', email)).to.deep.equal(ann);
      expect(await store.users.findByUnique('email', 'É@x')).to.equal(undefined);
    });

    it('finds some hundred values at once', async () => {
      const records = Array.from({ length: 300 }, (_, at) => product(at + 1, { sku: `s${at}` }));
      await store.addAll(records);
      const wanted = records.toReversed();
      expect(await skus(...wanted.map(({ fields }) => fields.sku ?? ''))).to.deep.equal(wanted);
    });
  });

  describe('case-insensitive unique fields', () => {
    it('reject a value that differs only in case, and name the field', async () => {
      await store.addUsers([user(1, 'Ann@Example.org')]);
      expect((await store.users.insertAll([user(2, 'aNN@eXAMPLE.org')])).map(outcomeText)).to.deep.equal([
        'duplicate_value /email',
      ]);
      const bob = user(3, 'bob@example.org');
      await store.addUsers([bob]);
      const late = { ...bob, version: 2, fields: { ...bob.fields, email: 'ANN@example.ORG' } };
      expect((await store.users.replaceAll([{ record: late, expected: 1 }])).map(outcomeText)).to.deep.equal([
        'duplicate_value /email',
      ]);
      expect((await store.users.list(query({}))).records).to.deep.equal([user(1, 'Ann@Example.org'), bob]);
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
    });

    it('give a value in any case to exactly one of many concurrent records', async () => {
      const spellings = ['ann@x.org', 'Ann@x.org', 'aNn@x.org', 'anN@X.ORG', 'ANN@X.ORG'];
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store.users.insertAll([user(i + 1, spellings[i % 5] ?? '')])),
      );
      expect(outcomes.flat().filter((outcome) => outcome === 'inserted')).to.have.length(1);
      expect(await store.users.count([])).to.equal(1);
    });

    it('fold only A to Z', async () => {
      await store.addUsers([user(1, 'é@x'), user(2, 'É@x'), user(3, 'k@x'), user(4, '\u212a@x')]);
      expect(await store.users.count([])).to.equal(4);
    });
  });
}

function idsFound(records: readonly ({ readonly id: Id } | undefined)[]): (Id | undefined)[] {
  return records.map((record) => record?.id);
}
