import { expect } from 'chai';
import { PRODUCTS as VIEW } from '#src/adapters/inbound/http/resources/definitions.js';
import { MemoryIdempotencyStore } from '#src/adapters/outbound/memory/expiring.js';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { BY_ID, type Filter } from '#src/application/ports/list-query.js';
import { IdAllocator } from '#src/application/records/id-allocator.js';
import type { Change } from '#src/application/records/record-format.js';
import { type RecordAddress, RecordService } from '#src/application/records/record-service.js';
import { ANY_VERSION, MAX_ATTEMPTS } from '#src/application/records/write-conditions.js';
import type { Product } from '#src/domain/product.js';
import type { Id } from '#src/domain/record.js';
import { idsOf } from '../../../contract/repository/records.js';
import { expectAppError } from '../../../support/expect-refusal.js';
import { CountingBackoff, FakeClock } from '../../../support/fakes.js';
import { ENDLESS, PRODUCTS } from '../../../support/tables.js';

const replacement = (body: object): Change => ({ kind: 'replacement', body });

/** Loses the next `losses` writes; if `isRaced`, another writer wins each of them. */
class LosingRepository extends MemoryRepository<Product> {
  losses = 0;
  isRaced = false;
  readonly deletions: number[] = [];

  override async removeAll(...[removals]: Parameters<MemoryRepository<Product>['removeAll']>) {
    this.deletions.push(...removals.map(({ at }) => at));
    if (this.losses-- > 0) return removals.map(() => false);
    return super.removeAll(removals);
  }

  override async replaceAll(...[replacements]: Parameters<MemoryRepository<Product>['replaceAll']>) {
    if (this.losses-- <= 0) return super.replaceAll(replacements);
    for (const { record } of replacements) await this.race(record.id);
    return replacements.map(() => 'version_conflict' as const);
  }

  override async confirmAll(...[versions]: Parameters<MemoryRepository<Product>['confirmAll']>) {
    if (this.losses-- > 0) for (const { id } of versions) await this.race(id);
    return super.confirmAll(versions);
  }

  private async race(id: Id): Promise<void> {
    const current = await this.find(id);
    if (!this.isRaced || !current) return;
    const version = current.version + 1;
    const fields = { ...current.fields, sku: `race-${version}` };
    await super.replaceAll([{ record: { ...current, version, fields }, expected: current.version }]);
  }
}

describe('RecordService', () => {
  let records: LosingRepository;
  let clock: FakeClock;
  let backoff: CountingBackoff;
  let products: RecordService<Product>;

  const created = async (body: object) => (await products.create({ draft: products.draft(body) })).record;

  beforeEach(() => {
    records = new LosingRepository(PRODUCTS, ENDLESS);
    clock = new FakeClock();
    backoff = new CountingBackoff();
    products = new RecordService({
      records,
      reservations: new MemoryIdempotencyStore(),
      ids: new IdAllocator(records),
      view: VIEW,
      fields: PRODUCTS.fields,
      rules: {},
      clock,
      backoff,
      budget: ENDLESS,
    });
  });

  it('lists, counts and yields the records that a query selects', async () => {
    for (const name of ['a', 'b', 'a', 'a']) await created({ name });
    const filters: Filter[] = [{ field: 'name', operator: 'eq', value: 'a' }];
    const page = await products.list({ limit: 2, filters, order: BY_ID });
    expect(idsOf(page.records)).to.deep.equal([1, 3]);
    expect(page.hasMore).to.equal(true);
    expect(await products.count(filters)).to.equal(3);
    const pages: Id[][] = [];
    for await (const records of products.pages({ limit: 2, filters, order: BY_ID })) pages.push(idsOf(records));
    expect(pages).to.deep.equal([[1, 3], [4]]);
  });

  it('reserves a key for a stream again, but not one that a creation has', async () => {
    await products.reserveStream('stream');
    await products.reserveStream('stream');
    const idempotency = { key: 'single', fingerprint: 'f', storesFields: true };
    await products.create({ draft: products.draft({ name: 'a' }), idempotency });
    await expectAppError(products.reserveStream('single'), 'idempotency_key_reused');
  });

  it('retries a lost write on the newest state', async () => {
    const { id } = await created({ name: 'Lamp' });
    records.losses = 3;
    records.isRaced = true;
    const patched = await products.update(id, ANY_VERSION, { kind: 'merge-patch', body: { name: 'Torch' } });
    expect(patched).to.deep.include({ version: 5, fields: { name: 'Torch', sku: 'race-4' } });
    expect(backoff.pauses).to.equal(3);
  });

  /** Each write of a record, by its id and by a unique field. */
  const WRITES: readonly (readonly [name: string, write: (address: RecordAddress) => Promise<unknown>])[] = [
    ['a PUT', (address) => products.update(address, ANY_VERSION, replacement({ name: 'Torch', sku: 'L' }))],
    ['a PATCH', (address) => products.update(address, ANY_VERSION, { kind: 'merge-patch', body: { stock: 1 } })],
    ['a DELETE', (address) => products.remove(address, ANY_VERSION)],
  ];
  for (const [name, write] of WRITES)
    it(`wins with the last of ${MAX_ATTEMPTS} attempts, or writes nothing: ${name}`, async () => {
      const record = await created({ name: 'Lamp', sku: 'L' });
      for (const address of [record.id, { field: 'sku', value: 'L' }]) {
        records.losses = MAX_ATTEMPTS;
        backoff.pauses = 0;
        await expectAppError(write(address), 'unavailable');
        expect([records.losses, backoff.pauses]).to.deep.equal([0, MAX_ATTEMPTS - 1]);
        expect(await products.read(record.id)).to.deep.equal(record);
      }
      records.losses = MAX_ATTEMPTS - 1;
      await write({ field: 'sku', value: 'L' });
      expect((await records.find(record.id))?.version).to.equal(name === 'a DELETE' ? undefined : 2);
    });

  it('checks the precondition on every version that it tries to change', async () => {
    const { id } = await created({ name: 'Lamp' });
    records.losses = 1;
    records.isRaced = true;
    await expectAppError(products.update(id, { only: [1] }, replacement({ name: 'x' })), 'precondition_failed');
    expect((await products.read(id)).fields).to.deep.equal({ name: 'Lamp', sku: 'race-2' });
  });

  it('dates a deletion after the creation, also if the clock was set back between them', async () => {
    const { id, createdAt } = await created({ name: 'Lamp' });
    clock.time -= 3_600_000;
    await products.remove(id, ANY_VERSION);
    expect(records.deletions).to.deep.equal([createdAt]);
  });

  it('evaluates preconditions by version', async () => {
    const { id } = await created({ name: 'Lamp' });
    for (const failing of [
      { only: [] },
      { only: [2, 3] },
      { never: [1] },
      { never: 'any' },
      { only: [1], never: [1] },
    ] as const) {
      await expectAppError(products.update(id, failing, replacement({ name: 'x' })), 'precondition_failed');
      await expectAppError(products.remove(id, failing), 'precondition_failed');
    }
    await products.update(id, { only: [7, 1], never: [2] }, replacement({ name: 'Torch' }));
    await products.remove(id, { only: [2] });
    expect(await records.find(id)).to.equal(undefined);
  });

  it('never decreases updatedAt if the clock is set back', async () => {
    const { id, createdAt } = await created({ name: 'Lamp' });
    clock.time -= 3_600_000;
    const { updatedAt } = await products.update(id, ANY_VERSION, replacement({ name: 'Torch' }));
    expect(updatedAt).to.equal(createdAt);
  });

  it('moves neither version nor time if nothing changes', async () => {
    const old = await created({ name: 'Lamp', attributes: { a: 1 } });
    clock.time += 1_000;
    const changes: Change[] = [
      replacement({ attributes: { a: 1 }, name: 'Lamp' }),
      { kind: 'merge-patch', body: { attributes: { a: 1 } } },
      { kind: 'json-patch', body: [{ op: 'test', path: '/name', value: 'Lamp' }] },
    ];
    for (const change of changes) expect(await products.update(old.id, ANY_VERSION, change)).to.deep.equal(old);
  });

  it('looks again if another writer was faster than a change without effect', async () => {
    const { id } = await created({ name: 'Lamp' });
    records.isRaced = true;
    records.losses = 2;
    const patched = await products.update(id, ANY_VERSION, { kind: 'merge-patch', body: { name: 'Lamp' } });
    expect(patched).to.deep.include({ version: 3, fields: { name: 'Lamp', sku: 'race-3' } });
    expect(backoff.pauses).to.equal(2);
    records.losses = 1;
    const same = replacement(patched.fields);
    await expectAppError(products.update(id, { only: [3] }, same), 'precondition_failed');
  });

  it('validates the body of every write, and the result of every patch', async () => {
    await expectAppError(created({ name: ' ' }), 'validation_failed', ['/name']);
    await expectAppError(created({ name: 7, sku: ' ' }), 'validation_failed', ['/name', '/sku']);
    const { id } = await created({ name: 'Lamp' });
    const changes: Change[] = [
      replacement({ name: '' }),
      { kind: 'merge-patch', body: { name: null } },
      { kind: 'json-patch', body: [{ op: 'remove', path: '/name' }] },
    ];
    for (const change of changes)
      await expectAppError(products.update(id, ANY_VERSION, change), 'validation_failed', ['/name']);
    expect((await products.read(id)).version).to.equal(1);
  });

  it('rejects reads and writes of a record that does not exist', async () => {
    await expectAppError(products.read(9), 'not_found');
    await expectAppError(products.remove(9, ANY_VERSION), 'not_found');
    await expectAppError(products.update(9, ANY_VERSION, replacement({ name: 'x' })), 'not_found');
  });

  it('keeps fields that this version does not know, in the record and in its objects', async () => {
    const fields = { name: 'Lamp', price: { amount: 1, currency: 'EUR', net: 0.8 }, label: 'x' };
    const id = await records.reserveIds(1);
    await records.insertAll([{ id, version: 1, createdAt: 0, updatedAt: 0, fields }]);
    const changes: [Change, object][] = [
      [replacement({ name: 'a', price: { amount: 2, currency: 'EUR' } }), { price: { ...fields.price, amount: 2 } }],
      [{ kind: 'merge-patch', body: { name: 'b' } }, { price: { ...fields.price, amount: 2 } }],
      [
        { kind: 'json-patch', body: [{ op: 'replace', path: '/name', value: 'c' }] },
        { price: { ...fields.price, amount: 2 } },
      ],
      [{ kind: 'merge-patch', body: { price: null } }, {}],
    ];
    for (const [change, remaining] of changes) {
      const { fields: stored } = await products.update(id, ANY_VERSION, change);
      expect(stored, JSON.stringify(change)).to.deep.equal({ name: stored.name, label: 'x', ...remaining });
    }
    expect(VIEW.present(await products.read(id))).to.deep.equal({ id, name: 'c' });
  });
});
