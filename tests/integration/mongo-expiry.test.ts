import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type Db, MongoClient } from 'mongodb';
import { mongoStorage } from '#src/adapters/outbound/mongo/storage.js';
import { type Storage, storageOf } from '#src/composition/storage.js';
import { EXPIRING_TABLES, RESOURCE_TABLES, TABLES } from '#src/composition/tables.js';
import { product } from '../contract/repository/records.js';
import { mongoUrl } from '../support/mongo-url.js';
import { ENDLESS } from '../support/tables.js';

/** Covers the TTL indexes. The removal itself is up to the server, and the stand-in does not remove. */
describe('expiry on MongoDB', () => {
  let client: MongoClient;
  let database: Db;
  let opened: Storage[];

  beforeEach(() => {
    client = new MongoClient(mongoUrl(`expiry-${randomUUID()}`));
    database = client.db();
    opened = [];
  });
  afterEach(async () => {
    for (const { store } of opened) await store.close();
    await database.dropDatabase();
    await client.close();
  });

  const replica = (): Storage => {
    const url = mongoUrl(database.databaseName);
    const storage = storageOf(mongoStorage({ url, tables: TABLES, budget: ENDLESS }));
    opened.push(storage);
    return storage;
  };

  /** Returns the TTL indexes of every collection. */
  const ttlIndexes = async () => {
    const collections = await database.listCollections().toArray();
    const all = await Promise.all(
      collections.map(async ({ name }) => ({ name, indexes: await database.collection(name).indexes() })),
    );
    return all.flatMap(({ name, indexes }) =>
      indexes
        .filter((index) => 'expireAfterSeconds' in index)
        .map(({ key, expireAfterSeconds, sparse }) => ({ name, key, expireAfterSeconds, sparse })),
    );
  };

  // Numbers, because a database that a release made keeps its indexes: others in their place end the start.
  const expected = [
    ...EXPIRING_TABLES.map(({ name }) => ({ name, key: { deletedAt: 1 }, expireAfterSeconds: 180_000, sparse: true })),
    ...RESOURCE_TABLES.map(({ name }) => ({
      name: `${name}_reservations`,
      key: { reservedAt: 1 },
      expireAfterSeconds: 90_000,
      sparse: true,
    })),
    { name: 'api_key_usage', key: { hour: 1 }, expireAfterSeconds: 93_600, sparse: true },
  ];

  it('covers reservations, usage and tombstones, but not those of API keys, after concurrent and later starts', async () => {
    await Promise.all([1, 2, 3].map(() => replica().store.open()));
    await replica().store.open();
    expect(await ttlIndexes()).to.have.deep.members(expected);
    expect(replica().purgeable, 'the service itself purges nothing').to.deep.equal([]);
  });

  it('is added to a database without it, and covers no live record', async () => {
    const before = replica();
    await before.store.open();
    await before.products.insertAll([product(1)]);
    for (const { name, key } of expected) {
      const indexes = await database.collection(name).indexes();
      const index = indexes.find((one) => Object.keys(one.key)[0] === Object.keys(key)[0]);
      await database.collection(name).dropIndex(index?.name ?? '');
    }
    expect(await ttlIndexes()).to.deep.equal([]);
    await replica().store.open();
    expect(await ttlIndexes()).to.have.deep.members(expected);
    const [document] = await database.collection('products').find().toArray();
    expect(document, 'has no field that lets it expire').to.not.have.property('deletedAt');
    expect(document).to.have.property('live', true);
  });

  it('stores times as dates, because the server removes no other type', async () => {
    const { store, products, reservations, usage } = replica();
    await store.open();
    const at = Date.now();
    await products.insertAll([product(1)]);
    await products.removeAll([{ id: 1, expected: 1, at }]);
    await reservations.products.reserve([{ key: 'a', fingerprint: 'f', id: 1, reservedAt: at }]);
    await usage.save([{ keyId: 1, hour: at, counter: 'a', routes: [] }]);
    const [tombstone] = await database.collection('products').find().toArray();
    const [reservation] = await database.collection('products_reservations').find().toArray();
    const [count] = await database.collection('api_key_usage').find().toArray();
    const times = [tombstone?.['deletedAt'], reservation?.['reservedAt'], count?.['hour']];
    expect(times).to.deep.equal(Array(3).fill(new Date(at)));
  });
});
