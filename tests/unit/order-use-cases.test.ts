import { expect } from 'chai';
import { MemoryIdempotencyStore } from '#src/adapters/outbound/memory/idempotency-store.js';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import type { Draft } from '#src/application/judgement.js';
import { LeasedIds } from '#src/application/leased-ids.js';
import { OrderUseCases } from '#src/application/order-use-cases.js';
import { fieldFault, unavailable } from '#src/domain/errors.js';
import { type Order, orderFaults } from '#src/domain/order.js';
import type { Id } from '#src/domain/record.js';
import { expectRefusal } from '../support/expect-refusal.js';
import { CountingBackoff, FakeClock } from '../support/fakes.js';
import { ENDLESS, ORDERS } from '../support/tables.js';

const always = () => true;

const draft = (userId: Id, ...products: Id[]): Draft<Order> => ({
  fields: { userId, items: products.map((productId) => ({ productId, quantity: 1 })) },
  faults: [],
});

/** Knows which ids there are, and notes what it was asked. */
class Referred {
  readonly asked: (readonly Id[])[] = [];
  isDown = false;

  constructor(readonly ids: Set<Id>) {}

  async findExistingIds(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    this.asked.push(ids);
    if (this.isDown) throw unavailable('gone');
    return new Set(ids.filter((id) => this.ids.has(id)));
  }
}

class LosingRepository extends MemoryRepository<Order> {
  onLoss: (() => void) | undefined;

  override async replace(...args: Parameters<MemoryRepository<Order>['replace']>): Promise<boolean> {
    const lose = this.onLoss;
    this.onLoss = undefined;
    lose?.();
    return lose ? false : super.replace(...args);
  }
}

describe('the use cases of orders', () => {
  let users: Referred;
  let products: Referred;
  let records: LosingRepository;
  let orders: OrderUseCases;

  beforeEach(() => {
    users = new Referred(new Set([1, 2]));
    products = new Referred(new Set([1, 2, 3]));
    records = new LosingRepository(ORDERS, ENDLESS);
    orders = new OrderUseCases({
      records,
      reservations: new MemoryIdempotencyStore(),
      ids: new LeasedIds(records),
      rules: { faults: orderFaults, normal: (order) => order },
      clock: new FakeClock(),
      backoff: new CountingBackoff(),
      users,
      products,
    });
  });
  const created = async (draft: Draft<Order>) => (await orders.create({ draft })).record;
  const noted = () => [users.asked.splice(0), products.asked.splice(0)];

  it('ask once for all that a new order names', async () => {
    await created(draft(1, 3, 1, 2));
    expect(noted()).to.deep.equal([[[1]], [[3, 1, 2]]]);
  });

  it('tell every reference to nothing', async () => {
    await expectRefusal(created(draft(9, 1, 8, 7)), 'validation_failed', [
      '/userId',
      '/items/1/productId',
      '/items/2/productId',
    ]);
    expect((await records.list({ limit: 9, filters: [], order: [] })).records).to.deep.equal([]);
  });

  it('tell them beside what was found in the draft, and beside the rules', async () => {
    const faults = [fieldFault('invalid_type', ['items', 0, 'quantity'])];
    const broken = { fields: { userId: 9, items: [{ productId: 8, quantity: 'x' }, null, 7] }, faults };
    await expectRefusal(created(broken), 'validation_failed', [
      '/items/0/quantity',
      '/userId',
      '/items/0/productId',
    ]);
    await expectRefusal(created(draft(1, 8, 8)), 'validation_failed', [
      '/items/1/productId',
      '/items/0/productId',
      '/items/1/productId',
    ]);
  });

  it('ask nothing of what is no reference', async () => {
    const faults = [fieldFault('invalid_type', [])];
    for (const fields of [{}, { userId: '1', items: {} }, { userId: 0, items: [{ productId: 1.5 }] }]) {
      await created({ fields, faults }).catch(() => undefined);
    }
    expect(noted()).to.deep.equal([[], []]);
  });

  it('ask of an edit what it adds or changes, and nothing else', async () => {
    const { id } = await created(draft(1, 1, 2));
    users.ids.clear();
    products.ids.clear();
    noted();
    await orders.edit(id, always, () => draft(1, 2, 1));
    expect(noted()).to.deep.equal([[], []]);
    products.ids.add(3);
    await orders.edit(id, always, () => draft(1, 3, 1));
    expect(noted()).to.deep.equal([[], [[3]]]);
    await expectRefusal(
      orders.edit(id, always, () => draft(2, 3, 2)),
      'validation_failed',
      ['/userId', '/items/1/productId'],
    );
  });

  it('judge an edit that lost a race by what stands then', async () => {
    const { id } = await created(draft(1, 1, 2));
    products.ids.delete(2);
    records.onLoss = () => {
      const current = { ...draft(1, 1).fields } as Order;
      void records.replace({ id, version: 2, createdAt: 0, updatedAt: 0, fields: current }, 1);
    };
    await expectRefusal(
      orders.edit(id, always, () => draft(1, 2, 3)),
      'validation_failed',
      ['/items/0/productId'],
    );
  });

  it('say that the store is not there rather than guess', async () => {
    products.isDown = true;
    await expectRefusal(created(draft(1, 1)), 'unavailable');
    await expectRefusal(created(draft(9, 1)), 'unavailable');
  });
});
