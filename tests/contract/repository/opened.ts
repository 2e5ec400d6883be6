import { expect } from 'chai';
import type { IdempotencyStore } from '#src/application/ports/idempotency-store.js';
import type { Repository } from '#src/application/ports/repository.js';
import type { ListQuery } from '#src/application/records/list-query.js';
import type { Storage } from '#src/composition/storage.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import type { User } from '#src/domain/user.js';
import { idsOf, product, query } from './records.js';

/** All that is in one store, empty and unused. */
export interface OpenRepository extends Omit<Storage, 'store'> {
  close(): Promise<void>;
}

/** The repositories of the test that runs. */
export class Opened {
  private current: OpenRepository | undefined;

  /** Opens a store before each test of the suite that this is called in, and closes it after. */
  static forEachTest(open: () => Promise<OpenRepository>): Opened {
    const opened = new Opened();
    beforeEach(async () => {
      opened.current = await open();
    });
    afterEach(async () => {
      await opened.current?.close();
      opened.current = undefined;
    });
    return opened;
  }

  get products(): Repository<Product> {
    return this.all.products;
  }

  /** Of products. */
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
    expect(await this.products.insert(record)).to.equal(true);
    return record;
  }

  addAll(records: readonly Versioned<Product>[]): Promise<void> {
    return insertedAll(this.products, records);
  }

  addUsers(records: readonly Versioned<User>[]): Promise<void> {
    return insertedAll(this.users, records);
  }

  /** The ids of a page of products. */
  async ids(wanted: Partial<ListQuery>): Promise<Id[]> {
    return idsOf((await this.products.list(query(wanted))).records);
  }
}

async function insertedAll<Fields>(
  repository: Repository<Fields>,
  records: readonly Versioned<Fields>[],
): Promise<void> {
  const outcomes = await repository.insertAll(records);
  expect(outcomes).to.deep.equal(records.map(() => 'inserted'));
}
