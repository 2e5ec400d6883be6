import { expect } from 'chai';
import { ORDERS as VIEW } from '#src/adapters/inbound/http/resources/definitions.js';
import { MemoryRepository } from '#src/adapters/outbound/memory/repository.js';
import { referenceValidator } from '#src/application/records/record-format.js';
import type { RecordService } from '#src/application/records/record-service.js';
import { ANY_VERSION } from '#src/application/records/write-conditions.js';
import { unavailable } from '#src/domain/errors.js';
import { ORDER, type Order } from '#src/domain/order.js';
import type { Id } from '#src/domain/record.js';
import { expectAppError } from '../../../../../support/expect-refusal.js';
import { recordService } from '../../../../../support/record-service.js';
import { ENDLESS, ORDERS } from '../../../../../support/tables.js';

const order = (userId: Id, ...products: Id[]): Order => ({
  userId,
  items: products.map((productId) => ({ productId, quantity: 1 })),
});

/** Returns the existing ones of the given ids, and records the calls. */
class FakeReferences {
  readonly lookUps: (readonly Id[])[] = [];
  isDown = false;

  constructor(readonly ids: Set<Id>) {}

  async findExistingIds(ids: readonly Id[]): Promise<ReadonlySet<Id>> {
    this.lookUps.push(ids);
    if (this.isDown) throw unavailable('gone');
    return new Set(ids.filter((id) => this.ids.has(id)));
  }
}

class LosingRepository extends MemoryRepository<Order> {
  onLoss: (() => void) | undefined;

  override async replaceAll(...args: Parameters<MemoryRepository<Order>['replaceAll']>) {
    const lose = this.onLoss;
    this.onLoss = undefined;
    lose?.();
    return lose ? (['version_conflict'] as const) : super.replaceAll(...args);
  }
}

describe('the references of orders', () => {
  let users: FakeReferences;
  let products: FakeReferences;
  let records: LosingRepository;
  let orders: RecordService<Order>;

  beforeEach(() => {
    users = new FakeReferences(new Set([1, 2]));
    products = new FakeReferences(new Set([1, 2, 3]));
    records = new LosingRepository(ORDERS, ENDLESS);
    orders = recordService(records, VIEW, { rules: { references: referenceValidator(ORDER, { users, products }) } });
  });
  const created = async (body: object) => (await orders.create({ draft: orders.draft(body) })).record;
  const replaced = (id: Id, body: object) => orders.update(id, ANY_VERSION, { kind: 'replacement', body });
  const takeLookUps = () => [users.lookUps.splice(0), products.lookUps.splice(0)];

  it('are looked up once for all references of a new order', async () => {
    await created(order(1, 3, 1, 2));
    expect(takeLookUps()).to.deep.equal([[[1]], [[3, 1, 2]]]);
  });

  it('are not looked up if a value is not a valid id', async () => {
    for (const fields of [{}, { userId: '1', items: {} }, { userId: 0, items: [{ productId: 1.5 }] }])
      await created(fields).catch(() => undefined);
    expect(takeLookUps()).to.deep.equal([[], []]);
  });

  it('are looked up only if an update adds or changes them', async () => {
    const { id } = await created(order(1, 1, 2));
    users.ids.clear();
    products.ids.clear();
    takeLookUps();
    await replaced(id, order(1, 2, 1));
    expect(takeLookUps()).to.deep.equal([[], []]);
    products.ids.add(3);
    await replaced(id, order(1, 3, 1));
    expect(takeLookUps()).to.deep.equal([[], [[3]]]);
    await expectAppError(replaced(id, order(2, 3, 2)), 'validation_failed', ['/userId', '/items/1/productId']);
  });

  it('are checked against the current record if an update lost a race', async () => {
    const { id } = await created(order(1, 1, 2));
    products.ids.delete(2);
    records.onLoss = () => {
      const current = order(1, 1);
      const record = { id, version: 2, createdAt: 0, updatedAt: 0, fields: current };
      void records.replaceAll([{ record, expected: 1 }]);
    };
    await expectAppError(replaced(id, order(1, 2, 3)), 'validation_failed', ['/items/0/productId']);
  });

  it('must name an existing resource', () => {
    expect(() => referenceValidator(ORDER, { users })).to.throw('products');
  });

  it('fail as unavailable if the store is unavailable', async () => {
    products.isDown = true;
    await expectAppError(created(order(1, 1)), 'unavailable');
    await expectAppError(created(order(9, 1)), 'unavailable');
  });

  it('need no validator if the entity has none', () => {
    expect(
      referenceValidator({ quantity: { description: '', kind: 'integer', min: 1, max: 9, example: 1 } }, {}),
    ).to.equal(undefined);
  });
});
