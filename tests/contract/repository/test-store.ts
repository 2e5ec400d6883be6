import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { IdempotencyStore } from '#src/application/ports/idempotency-store.js';
import type { ListQuery } from '#src/application/ports/list-query.js';
import type { Repository } from '#src/application/ports/repository.js';
import type { Product } from '#src/domain/product.js';
import type { Id, Versioned } from '#src/domain/record.js';
import type { User } from '#src/domain/user.js';
import {
  type CreatedStore,
  isShared,
  type OpenStore,
  openStore,
  type TestStoreProvider,
} from '../../stores/provider.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { idsOf, product, query } from './records.js';

/** The store of the running test. */
export class TestStore {
  /** In use by one test after the other, if that is faster than a new store for each. */
  private created: CreatedStore | undefined;
  private current: OpenStore | undefined;
  private other: OpenStore | undefined;

  private constructor(
    private readonly provider: TestStoreProvider,
    private readonly folder: string,
  ) {}

  /** Opens an empty store before each test of the surrounding suite, and removes it afterwards. */
  static forEachTest(provider: TestStoreProvider): TestStore {
    const store = new TestStore(provider, temporaryFolder());
    beforeEach(() => store.open());
    afterEach(() => store.close());
    after(() => store.remove());
    return store;
  }

  private async open(): Promise<void> {
    this.created ??= await this.provider.create(mkdtempSync(join(this.folder, 'store-')));
    this.current = await openStore(this.created.settings);
  }

  private async close(): Promise<void> {
    await this.other?.close();
    await this.current?.close();
    this.other = undefined;
    this.current = undefined;
    if (!(await this.created?.empty?.())) await this.remove();
  }

  private async remove(): Promise<void> {
    await this.created?.remove();
    this.created = undefined;
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

  get all(): OpenStore {
    if (!this.current) throw new Error('No store is open outside a test.');
    return this.current;
  }

  /** Opens the data once more, as another program does; the same store if one process alone can have it open. */
  async again(): Promise<OpenStore> {
    if (!isShared(this.provider)) return this.all;
    this.other ??= await openStore(this.created?.settings ?? {});
    return this.other;
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
