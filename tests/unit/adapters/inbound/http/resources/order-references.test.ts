import { expect } from 'chai';
import { ORDERS as VIEW } from '#src/adapters/inbound/http/resources/orders.js';
import { MemoryIdempotencyStore } from '#src/adapters/outbound/memory/idempotency-store.js';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { IdAllocator } from '#src/application/records/id-allocator.js';
import { ANY_VERSION, RecordService } from '#src/application/records/record-service.js';
import { referenceValidator } from '#src/application/records/record-validator.js';
import { unavailable } from '#src/domain/errors.js';
import { ORDER, type Order } from '#src/domain/order.js';
import type { Id } from '#src/domain/record.js';
import { expectRefusal } from '../../../../../support/expect-refusal.js';
import { CountingBackoff, FakeClock } from '../../../../../support/fakes.js';
import { ENDLESS, ORDERS } from '../../../../../support/tables.js';

const order = (userId: Id, ...products: Id[]): Order => ({
  userId,
  items: products.map((productId) => ({ productId, quantity: 1 })),
});

/** Knows which ids there are, and notes what it was asked. */
class Referred {
  readonly requested: (readonly Id[])[] = [];
  isDown = false;

  constructor(readonly ids: Set<Id>) {}

  async findExistingIds(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    this.requested.push(ids);
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

describe('the references of orders', () => {
  let users: Referred;
  let products: Referred;
  let records: LosingRepository;
  let orders: RecordService<Order>;

  beforeEach(() => {
    users = new Referred(new Set([1, 2]));
    products = new Referred(new Set([1, 2, 3]));
    records = new LosingRepository(ORDERS, ENDLESS);
    orders = new RecordService({
      records,
      reservations: new MemoryIdempotencyStore(),
      ids: new IdAllocator(records),
      view: VIEW,
      rules: { references: referenceValidator(ORDER, { users, products }) },
      clock: new FakeClock(),
      backoff: new CountingBackoff(),
    });
  });
  const created = async (body: object) => (await orders.create({ draft: orders.draft(body) })).record;
  const replaced = (id: Id, body: object) => orders.update(id, ANY_VERSION, { kind: 'replacement', body });
  const noted = () => [users.requested.splice(0), products.requested.splice(0)];

  it('ask once for all that a new order names', async () => {
    await created(order(1, 3, 1, 2));
    expect(noted()).to.deep.equal([[[1]], [[3, 1, 2]]]);
  });

  it('tell every reference to nothing', async () => {
    await expectRefusal(created(order(9, 1, 8, 7)), 'validation_failed', [
      '/userId',
      '/items/1/productId',
      '/items/2/productId',
    ]);
    expect((await records.list({ limit: 9, filters: [], order: [] })).records).to.deep.equal([]);
  });

  it('tell them beside what was found in the draft, and beside the rules', async () => {
    const broken = { userId: 9, items: [{ productId: 8, quantity: 'x' }, null, 7] };
    await expectRefusal(created(broken), 'validation_failed', [
      '/items/0/quantity',
      '/items/1',
      '/items/2',
      '/userId',
      '/items/0/productId',
    ]);
    await expectRefusal(created(order(1, 8, 8)), 'validation_failed', [
      '/items/1/productId',
      '/items/0/productId',
      '/items/1/productId',
    ]);
  });

  it('ask nothing of what is no reference', async () => {
    for (const fields of [{}, { userId: '1', items: {} }, { userId: 0, items: [{ productId: 1.5 }] }]) {
      await created(fields).catch(() => undefined);
    }
    expect(noted()).to.deep.equal([[], []]);
  });

  it('ask of an edit what it adds or changes, and nothing else', async () => {
    const { id } = await created(order(1, 1, 2));
    users.ids.clear();
    products.ids.clear();
    noted();
    await replaced(id, order(1, 2, 1));
    expect(noted()).to.deep.equal([[], []]);
    products.ids.add(3);
    await replaced(id, order(1, 3, 1));
    expect(noted()).to.deep.equal([[], [[3]]]);
    await expectRefusal(replaced(id, order(2, 3, 2)), 'validation_failed', ['/userId', '/items/1/productId']);
  });

  it('judge an edit that lost a race by what stands then', async () => {
    const { id } = await created(order(1, 1, 2));
    products.ids.delete(2);
    records.onLoss = () => {
      const current = order(1, 1);
      void records.replace({ id, version: 2, createdAt: 0, updatedAt: 0, fields: current }, 1);
    };
    await expectRefusal(replaced(id, order(1, 2, 3)), 'validation_failed', ['/items/0/productId']);
  });

  it('name resources that are there', () => {
    // @ts-expect-error An order also names products.
    expect(() => referenceValidator(ORDER, { users })).to.throw('products');
  });

  it('say that the store is not there rather than guess', async () => {
    products.isDown = true;
    await expectRefusal(created(order(1, 1)), 'unavailable');
    await expectRefusal(created(order(9, 1)), 'unavailable');
  });
});
