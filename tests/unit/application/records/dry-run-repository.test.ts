import { expect } from 'chai';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { DRY_RUN_BYTES, DryRunRepository, isDryRunId } from '#src/application/records/dry-run-repository.js';
import { AppError, DuplicateValue } from '#src/domain/errors.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import type { User } from '#src/domain/user.js';
import { ByteQuota, type QuotaShare } from '#src/shared/byte-quota.js';
import { ENDLESS, PRODUCTS, USERS } from '../../../support/tables.js';

const record = <Fields>(id: Id, fields: Fields, version = 1): Versioned<Fields> => ({
  id,
  version,
  createdAt: 0,
  updatedAt: 0,
  fields,
});

describe('DryRunRepository', () => {
  let stored: MemoryRepository<Product>;
  let dryRun: DryRunRepository<Product>;
  beforeEach(async () => {
    stored = new MemoryRepository<Product>(PRODUCTS, ENDLESS);
    await stored.insertAll([record(1, { name: 'one', sku: 'a' }), record(2, { name: 'two', sku: 'b' })]);
    // It has the look-up of the store alone, and so it cannot write.
    const lookup = {
      findAllByUnique: (...args: Parameters<typeof stored.findAllByUnique>) => stored.findAllByUnique(...args),
    };
    dryRun = new DryRunRepository(lookup, PRODUCTS.fields, new ByteQuota(DRY_RUN_BYTES).open('a'));
  });

  const owners = async (...skus: string[]) => (await dryRun.findAllByUnique('sku', skus)).map((found) => found?.id);
  const change = (id: Id, fields: Product, version = 2) =>
    dryRun.replaceAll([{ record: record(id, fields, version), expected: version - 1 }]);
  const remove = (id: Id) => dryRun.removeAll([{ id, expected: 1, at: 0 }]);
  const named = (outcomes: readonly unknown[]) =>
    outcomes.map((one) => (one instanceof DuplicateValue ? `duplicate ${one.field}` : one));

  it('finds what is stored, until it is changed', async () => {
    expect(await owners('a', 'b', 'c')).to.deep.equal([1, 2, undefined]);
    const [one, none] = await dryRun.findAllByUnique('id', [1, 9]);
    expect([one?.fields, none]).to.deep.equal([{ name: 'one', sku: 'a' }, undefined]);
    expect(await change(1, { name: 'ONE', sku: 'a' })).to.deep.equal(['replaced']);
    for (const [field, value] of Object.entries({ sku: 'a', id: 1 })) {
      const [found] = await dryRun.findAllByUnique(field, [value]);
      expect([found?.version, found?.fields]).to.deep.equal([2, { name: 'ONE', sku: 'a' }]);
    }
    expect((await stored.find(1))?.fields.name).to.equal('one');
  });

  it('finds what was created, under an id that no record and no body has', async () => {
    const ids = [...(await dryRun.take(3)), ...(await dryRun.take(1))];
    expect(new Set(ids)).to.have.length(4);
    for (const id of ids) {
      expect(isDryRunId(id)).to.equal(true);
      expect(Number.isSafeInteger(id)).to.equal(false);
    }
    const [id = 0, second = 0] = ids;
    expect(
      named(await dryRun.insertAll([record(id, { name: 'new', sku: 'c' }), record(second, { name: 'x', sku: 'c' })])),
    ).to.deep.equal(['inserted', 'duplicate sku']);
    expect(await owners('c')).to.deep.equal([id]);
    expect(await stored.findByUnique('sku', 'c')).to.equal(undefined);
    expect(isDryRunId(1)).to.equal(false);
  });

  it('finds no record that was deleted, by its id or by what it had', async () => {
    expect(await remove(1)).to.deep.equal([true]);
    expect(await owners('a', 'b')).to.deep.equal([undefined, 2]);
    expect(await dryRun.findAllByUnique('id', [1, 2])).to.have.nested.property('[0]', undefined);
    expect(await remove(1), 'again').to.deep.equal([false]);
    expect(await change(2, { name: 'two', sku: 'a' }), 'its value is free').to.deep.equal(['replaced']);
    expect(await owners('a', 'b')).to.deep.equal([2, undefined]);
    const [id = 0] = await dryRun.take(1);
    expect(await dryRun.insertAll([record(id, { name: 'x', sku: 'b' })])).to.deep.equal(['inserted']);
    expect(await owners('a', 'b')).to.deep.equal([2, id]);
  });

  it('gives on values: from one record to another, and back', async () => {
    expect(named(await change(2, { name: 'two', sku: 'a' }))).to.deep.equal(['duplicate sku']);
    expect(await owners('a', 'b')).to.deep.equal([1, 2]);
    expect(await change(1, { name: 'one' })).to.deep.equal(['replaced']);
    expect(await change(2, { name: 'two', sku: 'a' })).to.deep.equal(['replaced']);
    expect(await change(1, { name: 'one', sku: 'b' }, 3)).to.deep.equal(['replaced']);
    expect(await owners('a', 'b')).to.deep.equal([2, 1]);
    expect(named(await change(1, { name: 'one', sku: 'a' }, 4))).to.deep.equal(['duplicate sku']);
  });

  it('compares e-mail addresses without case', async () => {
    const users = new MemoryRepository<User>(USERS, ENDLESS);
    await users.insertAll([record(1, { name: 'Ann', email: 'Ann@Example.com' })]);
    const dry = new DryRunRepository<User>(users, USERS.fields, new ByteQuota(DRY_RUN_BYTES).open('a'));
    const [id = 0] = await dry.take(1);
    const find = async (email: string) => (await dry.findAllByUnique('email', [email]))[0]?.id;
    expect(named(await dry.insertAll([record(id, { name: 'x', email: 'ANN@example.COM' })]))).to.deep.equal([
      'duplicate email',
    ]);
    await dry.insertAll([record(id, { name: 'Bob', email: 'Bob@Example.com' })]);
    expect([await find('ann@EXAMPLE.com'), await find('BOB@example.com')]).to.deep.equal([1, id]);
    await dry.removeAll([{ id: 1, expected: 1, at: 0 }]);
    expect([await find('Ann@Example.com'), await find('ANN@EXAMPLE.COM')]).to.deep.equal([undefined, undefined]);
  });

  it('lets many records without a value of the field be', async () => {
    const ids = await dryRun.take(2);
    const created = ids.map((id) => record(id, { name: 'plain' }));
    expect(await dryRun.insertAll(created)).to.deep.equal(['inserted', 'inserted']);
    expect(await dryRun.confirmAll([{ id: 1, version: 1 }])).to.deep.equal([true]);
    expect(await dryRun.findUsedIds()).to.deep.equal(new Set());
  });

  describe('without memory', () => {
    const KIB = 1_024;
    const quota = () => new ByteQuota({ perClient: 32 * KIB, total: 96 * KIB });
    const runOf = (share: QuotaShare) => new DryRunRepository<Product>(stored, PRODUCTS.fields, share);
    const insert = async (run: DryRunRepository<Product>, fields: Product) => {
      const [id = 0] = await run.take(1);
      const [outcome] = await run.insertAll([record(id, fields)]);
      return outcome instanceof AppError ? outcome.code : outcome;
    };
    const large = (sku: string) => ({ name: 'x', sku, description: 'd'.repeat(10 * KIB) });
    const fill = async (run: DryRunRepository<Product>, name: string) => {
      for (let n = 0; n < 1_000; n++) {
        const outcome = await insert(run, large(`${name}-${n}`));
        if (outcome !== 'inserted') return [n, outcome];
      }
      return [];
    };

    it('refuses a record that does not fit, later writes of its key alike, and goes on with others', async () => {
      const run = runOf(quota().open('a'));
      expect(await fill(run, 'full')).to.deep.equal([3, 'payload_too_large']);
      expect(run.refusal('sku', 'full-3')?.code).to.equal('payload_too_large');
      expect(await insert(run, { name: 'small', sku: 'full-3' })).to.equal('payload_too_large');
      expect(run.refusal('sku', 'full-2')).to.equal(undefined);
      expect(run.refusal('sku', 'another')).to.equal(undefined);
      expect(await insert(run, { name: 'small', sku: 'another' })).to.equal('inserted');
    });

    it('keeps nothing of the quota for a write that ends after the release', async () => {
      const all = quota();
      const share = all.open('a');
      const run = runOf(share);
      expect(await insert(run, large('early'))).to.equal('inserted');
      share.release();
      expect(await insert(run, large('late'))).to.equal('inserted');
      expect(await fill(runOf(all.open('a')), 'next')).to.deep.equal([3, 'payload_too_large']);
    });

    it('knows nothing of a record after a change that it did not keep, nor of its values', async () => {
      const run = runOf(quota().open('a'));
      const replace = async (id: Id, fields: Product) => {
        const [outcome] = await run.replaceAll([{ record: record(id, fields, 2), expected: 1 }]);
        return outcome instanceof AppError ? outcome.code : outcome;
      };
      const tooLarge = { name: 'x', sku: 'z', description: 'd'.repeat(40 * KIB) };
      expect(await replace(1, tooLarge)).to.equal('payload_too_large');
      for (const [field, value] of [
        ['id', 1],
        ['sku', 'a'],
        ['sku', 'z'],
      ] as const)
        expect(run.refusal(field, value)?.code, `${field} ${value}`).to.equal('payload_too_large');
      expect(await replace(2, { name: 'two', sku: 'z' }), 'a value that it may have').to.equal('payload_too_large');
    });

    it('refuses each key that it does not know when it cannot remember any more which it refused', async () => {
      const run = runOf(quota().open('a'));
      expect(await insert(run, large('kept'))).to.equal('inserted');
      let outcome: unknown;
      for (let n = 0; run.refusal('sku', 'never sent') === undefined; n++) {
        outcome = await insert(run, { name: 'x', sku: `n-${n}` });
        if (n === 1_000) throw new Error('It remembers too much.');
      }
      expect(outcome).to.equal('payload_too_large');
      expect(run.refusal('sku', 'kept')).to.equal(undefined);
      expect(run.refusal('id', 2)?.code).to.equal('payload_too_large');
    });

    it('does no deletion that it cannot keep', async () => {
      const share = quota().open('a');
      const run = runOf(share);
      for (let bytes = 32 * KIB; bytes > 0; bytes = Math.floor(bytes / 2)) share.take(bytes);
      expect(await run.removeAll([{ id: 1, expected: 1, at: 0 }])).to.deep.equal([false]);
      expect(run.refusal('id', 1)?.code).to.equal('payload_too_large');
    });

    it('shares a limit with the other runs of its client, and one with those of all', async () => {
      const all = quota();
      const shares = [all.open('a'), all.open('a'), all.open('b'), all.open('c'), all.open('d')];
      const runs = shares.map(runOf);
      const outcomes: unknown[] = [];
      for (const [at, run] of runs.entries()) outcomes.push(await fill(run, `run-${at}`));
      expect(outcomes).to.deep.equal([
        [3, 'payload_too_large'],
        [0, 'payload_too_large'],
        [3, 'payload_too_large'],
        [3, 'payload_too_large'],
        [0, 'unavailable'],
      ]);
      for (const share of shares) share.release();
      expect(await fill(runOf(all.open('d')), 'again')).to.deep.equal([3, 'payload_too_large']);
    });

    it('takes back what an earlier version of a record took', async () => {
      const share = quota().open('a');
      const run = runOf(share);
      for (let version = 2; version < 100; version++) {
        const change = { record: record(1, large('a'), version), expected: version - 1 };
        expect(await run.replaceAll([change])).to.deep.equal(['replaced']);
      }
      expect(await fill(run, 'more')).to.deep.equal([2, 'payload_too_large']);
      share.release();
    });
  });
});
