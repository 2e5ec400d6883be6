import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { MongoArchive } from '#src/adapters/outbound/mongo/archive.js';
import { wantedIndexes } from '#src/adapters/outbound/mongo/indexes.js';
import { MongoRepository } from '#src/adapters/outbound/mongo/repository.js';
import { MongoStore } from '#src/adapters/outbound/mongo/store.js';
import { BY_ID, type Filter } from '#src/application/ports/list-query.js';
import { QueryBudget } from '#src/application/records/lists.js';
import type { Product } from '#src/domain/product.js';
import type { User } from '#src/domain/user.js';
import { AT, outcomeText, product, user } from '../contract/repository/records.js';
import { expectAppError } from '../support/expect-refusal.js';
import { FakeClock } from '../support/fakes.js';
import { mongoUrl, serverOf, throughProxy } from '../support/mongo-url.js';
import { API_KEYS, ENDLESS, ORDERS, PRODUCTS, USERS } from '../support/tables.js';
import { TcpProxy } from '../support/tcp-proxy.js';

describe('lists on MongoDB', () => {
  let database: string;
  let store: MongoStore;
  let products: MongoRepository<Product>;
  let users: MongoRepository<User>;

  beforeEach(async () => {
    database = `lists-${randomUUID()}`;
    store = new MongoStore(mongoUrl(database), wantedIndexes([PRODUCTS, USERS, ORDERS, API_KEYS]), ENDLESS);
    products = new MongoRepository(store, PRODUCTS);
    users = new MongoRepository(store, USERS);
    await store.open();
  });
  afterEach(async () => {
    await store.run((database) => database.dropDatabase());
    await store.close();
  });

  it('reject text of a client as the name of a field', async () => {
    for (const field of ['$where', 'fields', 'live', '_id', 'constructor']) {
      const filters: Filter[] = [{ field, operator: 'eq', value: 'x' }];
      const error = await products.list({ limit: 1, filters, order: BY_ID }).catch((reason: unknown) => reason);
      expect(String(error), field).to.include(`no field ${field}`);
    }
  });

  it('match nothing by an operator or an expression instead of a text', async () => {
    await products.insertAll([product(100, { name: 'a', sku: 'a', attributes: { a: 'a' } })]);
    for (const injected of [{ $gt: '' }, { $ne: null }, /.*/] as unknown as string[]) {
      const filters: Filter[] = [
        { field: 'name', operator: 'eq', value: injected },
        { field: 'attributes', operator: 'attribute', key: injected, value: 'a' },
      ];
      for (const filter of filters) expect(await products.count([filter])).to.equal(0);
      expect(await products.findByUnique('sku', injected)).to.equal(undefined);
    }
  });

  it('have a case-folded copy of an email outside the fields, also in an archive, and none of a sku', async () => {
    const archive = new MongoArchive(store, USERS);
    await archive.add([user(1, 'Ann@x'), { id: 2, deletedAt: AT }]);
    await products.insertAll([product(1, { sku: 'ABC' })]);
    const first = (name: string) => store.run((database) => database.collection(name).findOne());
    const fields = { name: 'user 1', email: 'Ann@x' };
    expect(await first('users')).to.deep.include({ fields, folded: { email: 'ann@x' } });
    expect(await first('products')).to.not.have.property('folded');
    expect(await archive.read(0, 10)).to.deep.equal([user(1, 'Ann@x'), { id: 2, deletedAt: AT }]);
    expect((await users.insertAll([user(3, 'aNN@x')])).map(outcomeText)).to.deep.equal(['duplicate_value /email']);
  });

  it('have indexes for every sort field in both directions, and for every filter field', async () => {
    const keys = async (name: string) => {
      const indexes = await store.run((database) => database.collection(name).listIndexes().toArray());
      const others = ['pending', 'ttl_deletedAt'];
      return indexes
        .filter((index) => !others.includes(index.name))
        .map(({ key, unique, sparse }) => [
          Object.entries(key)
            .map(([path, direction]) => (Number(direction) < 0 ? `-${path}` : path))
            .join(),
          ...(unique && sparse ? ['unique'] : []),
        ]);
    };
    const everyRecord = ['createdAt', 'updatedAt'].flatMap((field) => scannedBothWays(field));
    expect(await keys('products')).to.have.deep.members([
      ['_id'],
      ['live,_id'],
      ...everyRecord,
      ...scannedBothWays('fields.name'),
      ...['price.amount', 'stock'].flatMap((field) => scannedBothWays(`fields.${field}`)),
      ...['price.currency', 'status', 'tags', 'brand', 'gtin', 'group'].map((field) => [`live,fields.${field},_id`]),
      ['live,fields.attributes.key,fields.attributes.value,_id'],
      ['fields.sku', 'unique'],
      ['live,folded.gtin,_id'],
      ['live,block,words,_id'],
      ['live,derived'],
    ]);
    expect(await keys('users')).to.have.deep.members([
      ['_id'],
      ['live,_id'],
      ...everyRecord,
      ...scannedBothWays('fields.name'),
      ['live,fields.email,_id'],
      ['folded.email', 'unique'],
      ['live,block,words,_id'],
      ['live,derived'],
    ]);
    expect(await keys('orders')).to.have.deep.members([
      ['_id'],
      ['live,_id'],
      ...everyRecord,
      ...scannedBothWays('fields.userId'),
      ['live,fields.userId,-createdAt,_id'],
    ]);
    await store.open();
    expect(await keys('orders')).to.have.length(9);
  });

  describe('with a time limit', () => {
    const unindexed = { field: 'images', operator: 'exists', value: true } as const;
    const slow = { limit: 10, filters: [unindexed], order: BY_ID };

    const opened = async (url: string, timeoutMs: number) => {
      const other = new MongoStore(url, wantedIndexes([PRODUCTS]), new QueryBudget(new FakeClock(), timeoutMs));
      await other.open();
      return { other, records: new MongoRepository(other, PRODUCTS) };
    };

    it('reject a list or count without an index as too expensive', async () => {
      const all = Array.from({ length: 8_000 }, (_, at) => product(at + 1));
      for (let at = 0; at < all.length; at += 1_000) await products.insertAll(all.slice(at, at + 1_000));
      const { other, records } = await opened(mongoUrl(database), 1);
      try {
        await expectAppError(records.list(slow), 'query_too_expensive');
        await expectAppError(records.count([unindexed]), 'query_too_expensive');
        // A list with an index has the time limit of other operations.
        const served = await records.list({ limit: 3, filters: [], order: BY_ID });
        expect(served.records).to.have.length(3);
        expect(await records.find(8_000)).to.deep.equal(all.at(-1));
      } finally {
        await other.close();
      }
    });

    it('allow a list without an index more time than other operations, if the budget does', async () => {
      // With a shorter time-out the driver, and with more heartbeats the store, would count the server as down.
      const patience = 'connectTimeoutMS=20000&heartbeatFrequencyMS=20000';
      const url = mongoUrl(database, patience);
      const proxy = new TcpProxy(serverOf(url));
      const { other, records } = await opened(throughProxy(url, await proxy.listen()), 8_000);
      try {
        await records.insertAll([product(1)]);
        proxy.delayMs = 1_000;
        const [found, listed] = [records.find(1), records.list(slow)];
        await expectAppError(found, 'unavailable');
        expect((await listed).records).to.deep.equal([]);
      } finally {
        await other.close();
        await proxy.close();
      }
    });
  });
});

function scannedBothWays(path: string): string[][] {
  return [[`live,${path},_id`], [`live,-${path},_id`]];
}
