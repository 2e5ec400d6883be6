import { expect } from 'chai';
import type { IdempotencyStore } from '#src/application/ports/idempotency-store.js';
import type { ListQuery } from '#src/application/ports/list-query.js';
import type { Repository } from '#src/application/ports/repository.js';
import type { Storage } from '#src/composition/storage.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import type { User } from '#src/domain/user.js';
import { idsOf, product, query } from './records.js';

/** A new, empty store with all its repositories. */
export interface OpenRepository extends Omit<Storage, 'store'> {
  close(): Promise<void>;
}

/** A store that other programs may have open too. */
export interface SharedRepository extends OpenRepository {
  /** Opens the same data once more, as another program does. `close` leaves the data. */
  again(): Promise<OpenRepository>;
}

/** The store of the running test. */
export class TestStore {
  private current: OpenRepository | undefined;

  /** Opens a store before each test of the surrounding suite, and closes it afterwards. */
  static forEachTest(open: () => Promise<OpenRepository>): TestStore {
    const store = new TestStore();
    beforeEach(async () => {
      store.current = await open();
    });
    afterEach(async () => {
      await store.current?.close();
      store.current = undefined;
    });
    return store;
  }

  get products(): Repository<Product> {
    return this.all.products;
  }

  /** The reservations of products. */
  get reservations(): IdempotencyStore {
    return this.all.reservations.products;
  }

  get users(): Repository<User> {
    return this.all.users;
  }

  get all(): OpenRepository {
    if (!this.current) throw new Error('No store is open outside a test.');
    return this.current;
  }

  async add(id: Id, fields: Partial<Product> = {}): Promise<Versioned<Product>> {
    const record = product(id, fields);
    expect(await this.products.insertAll([record])).to.deep.equal(['inserted']);
    return record;
  }

  addAll(records: readonly Versioned<Product>[]): Promise<void> {
    return insertEach(this.products, records);
  }

  addUsers(records: readonly Versioned<User>[]): Promise<void> {
    return insertEach(this.users, records);
  }

  /** The ids of a page of products. */
  async ids(changes: Partial<ListQuery>): Promise<Id[]> {
    return idsOf((await this.products.list(query(changes))).records);
  }
}

async function insertEach<Fields>(
  repository: Repository<Fields>,
  records: readonly Versioned<Fields>[],
): Promise<void> {
  const outcomes = await repository.insertAll(records);
  expect(outcomes).to.deep.equal(records.map(() => 'inserted'));
}
