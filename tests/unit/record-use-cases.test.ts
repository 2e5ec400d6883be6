import { expect } from 'chai';
import { MemoryIdempotencyStore } from '#src/adapters/outbound/memory/idempotency-store.js';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import type { Draft } from '#src/application/judgement.js';
import { LeasedIds } from '#src/application/leased-ids.js';
import { RecordUseCases } from '#src/application/record-use-cases.js';
import { fieldFault } from '#src/domain/errors.js';
import { normalProduct, type Product, productFaults } from '#src/domain/product.js';
import { expectRefusal } from '../support/expect-refusal.js';
import { CountingBackoff, FakeClock } from '../support/fakes.js';
import { ENDLESS, PRODUCTS } from '../support/tables.js';

const always = () => true;

const draft = (fields: Product): Draft<Product> => ({ fields, faults: [] });

class LosingRepository extends MemoryRepository<Product> {
  losses = 0;

  override async replace(...args: Parameters<MemoryRepository<Product>['replace']>): Promise<boolean> {
    return this.losses-- > 0 ? false : super.replace(...args);
  }
}

describe('the use cases of records', () => {
  let records: LosingRepository;
  let clock: FakeClock;
  let backoff: CountingBackoff;
  let products: RecordUseCases<Product>;

  const created = async (draft: Draft<Product>) => (await products.create({ draft })).record;
  beforeEach(() => {
    records = new LosingRepository(PRODUCTS, ENDLESS);
    clock = new FakeClock();
    backoff = new CountingBackoff();
    const rules = { faults: productFaults, normal: normalProduct };
    products = new RecordUseCases({
      records,
      reservations: new MemoryIdempotencyStore(),
      ids: new LeasedIds(records),
      rules,
      clock,
      backoff,
    });
  });

  it('try a lost write again on the newest state', async () => {
    const { id } = await created(draft({ name: 'Lamp' }));
    records.losses = 3;
    let edits = 0;
    const edited = await products.edit(id, always, ({ fields }) =>
      draft({ name: `${fields.name} ${++edits}` }),
    );
    expect(edited).to.deep.include({ version: 2, fields: { name: 'Lamp 4' } });
    expect(backoff.pauses).to.equal(3);
  });

  it('give up a write that never wins, with nothing written', async () => {
    const { id } = await created(draft({ name: 'Lamp' }));
    records.losses = Number.POSITIVE_INFINITY;
    await expectRefusal(
      products.edit(id, always, () => draft({ name: 'Torch' })),
      'unavailable',
    );
    expect((await products.read(id)).fields.name).to.equal('Lamp');
    expect(backoff.pauses).to.be.within(10, 1_000);
  });

  it('judge every version that they try to change', async () => {
    const { id } = await created(draft({ name: 'Lamp' }));
    const seen: number[] = [];
    const once = (version: number) => seen.push(version) === 1;
    records.losses = 1;
    await expectRefusal(
      products.edit(id, once, () => draft({ name: 'x' })),
      'precondition_failed',
    );
    expect(seen).to.deep.equal([1, 1]);
  });

  it('let no time of change come before another when the clock is set back', async () => {
    const { id, createdAt } = await created(draft({ name: 'Lamp' }));
    clock.time -= 3_600_000;
    const { updatedAt } = await products.edit(id, always, () => draft({ name: 'Torch' }));
    expect(updatedAt).to.equal(createdAt);
  });

  it('move neither version nor time where nothing changes', async () => {
    const old = await created(draft({ name: 'Lamp', attributes: { a: 1 } }));
    clock.time += 1_000;
    expect(
      await products.edit(old.id, always, () => draft({ attributes: { a: 1 }, name: 'Lamp' })),
    ).to.deep.equal(old);
  });

  it('guard the rules of the entity, whoever calls', async () => {
    await expectRefusal(created(draft({ name: ' ' })), 'validation_failed', ['/name']);
    const { id } = await created(draft({ name: 'Lamp' }));
    await expectRefusal(
      products.edit(id, always, () => draft({ name: '' })),
      'validation_failed',
      ['/name'],
    );
  });

  it('tell what was found in a draft, and ask no rules of fields that may be anything', async () => {
    const faults = [fieldFault('invalid_type', ['name'])];
    const broken: Draft<Product> = { fields: { name: 7, sku: ' ' }, faults };
    await expectRefusal(created(broken), 'validation_failed', ['/name']);
    const { id } = await created(draft({ name: 'Lamp' }));
    await expectRefusal(
      products.edit(id, always, () => broken),
      'validation_failed',
      ['/name'],
    );
    expect((await products.read(id)).version).to.equal(1);
  });

  it('know nothing of what is not there', async () => {
    await expectRefusal(products.read(9), 'not_found');
    await expectRefusal(products.remove(9, always), 'not_found');
    await expectRefusal(
      products.edit(9, always, ({ fields }) => draft(fields)),
      'not_found',
    );
  });
});
