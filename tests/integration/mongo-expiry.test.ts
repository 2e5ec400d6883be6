import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type Db, MongoClient } from 'mongodb';
import { RESERVATION_MS, TOMBSTONE_MS } from '#src/application/maintenance/retention.js';
import { StoreConfigError } from '#src/application/ports/store.js';
import { mongoStorage } from '#src/composition/mongo-storage.js';
import type { Storage } from '#src/composition/storage.js';
import { EXPIRING_TABLES, RESOURCE_TABLES, TABLES } from '#src/composition/tables.js';
import { product } from '../contract/repository/records.js';
import { mongoUrl } from '../support/mongo-url.js';
import { ENDLESS } from '../support/tables.js';

/** The server removes what is old by itself; that it does is MongoDB's own affair, and the stand-in does not. */
describe('what expires on MongoDB', () => {
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
    const stored = mongoStorage({ url, budget: ENDLESS });
    opened.push(stored);
    return stored;
  };

  /** Of every collection: what is removed by which member, how many seconds after. */
  const expiries = async () => {
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

  const expected = [
    ...EXPIRING_TABLES.map(({ name }) => ({
      name,
      key: { deletedAt: 1 },
      expireAfterSeconds: TOMBSTONE_MS / 1_000,
      sparse: true,
    })),
    ...RESOURCE_TABLES.map(({ name }) => ({
      name: `${name}_reservations`,
      key: { reservedAt: 1 },
      expireAfterSeconds: RESERVATION_MS / 1_000,
      sparse: true,
    })),
  ];

  it('is the reservations of four resources and the tombstones of three, not those of API keys', async () => {
    await replica().store.open();
    expect(TABLES.map(({ name }) => name)).to.include('api_keys');
    expect(expected.map(({ name }) => name))
      .to.include('api_keys_reservations')
      .and.not.include('api_keys');
    expect(await expiries()).to.have.deep.members(expected);
  });

  it('is said in the same words by replicas that start together, and by those that start later', async () => {
    await Promise.all([1, 2, 3].map(() => replica().store.open()));
    await replica().store.open();
    expect(await expiries()).to.have.deep.members(expected);
  });

  it('comes to a database of before, and is of no record in it', async () => {
    const before = replica();
    await before.store.open();
    await before.products.insert(product(1));
    for (const { name, key } of expected) {
      const index = (await database.collection(name).indexes()).find(
        (one) => Object.keys(one.key)[0] === Object.keys(key)[0],
      );
      await database.collection(name).dropIndex(index?.name ?? '');
    }
    expect(await expiries()).to.deep.equal([]);
    await replica().store.open();
    expect(await expiries()).to.have.deep.members(expected);
    const [document] = await database.collection('products').find().toArray();
    expect(document, 'lacks what would let it expire').to.not.have.property('deletedAt');
    expect(document).to.have.property('live', true);
  });

  it('is never after another time: an index that says so ends the start, in the place of ours or beside it', async () => {
    const key = { reservedAt: 1 } as const;
    const reservations = database.collection('users_reservations');
    const found = {
      ttl_reservedAt: 'has another index, ttl_reservedAt',
      by_hand: 'has an index, by_hand, that removes',
    };
    for (const [name, prints] of Object.entries(found)) {
      await reservations.createIndex(key, { name, expireAfterSeconds: 60 });
      const { store } = replica();
      const error = await store.open().catch((error: unknown) => error);
      expect(error).to.be.instanceOf(StoreConfigError);
      expect((error as Error).message).to.include(`users_reservations ${prints}`);
      await reservations.dropIndex(name);
    }
  });

  it('has to be by our index alone: the server makes another one beside it, and the next start ends', async () => {
    await replica().store.open();
    const reservations = database.collection('users_reservations');
    await reservations.createIndex({ reservedAt: 1 }, { name: 'by_hand', expireAfterSeconds: 60 });
    expect((await reservations.indexes()).map(({ name }) => name)).to.have.members([
      '_id_',
      'ttl_reservedAt',
      'by_hand',
    ]);
    const { store } = replica();
    expect(await store.open().catch((error: unknown) => error)).to.be.instanceOf(StoreConfigError);
  });

  it('is kept as a time: by another type the server would never remove it', async () => {
    const { store, products, reservations } = replica();
    await store.open();
    const at = Date.now();
    await products.insert(product(1));
    await products.remove(1, 1, at);
    await reservations.products.reserve([{ key: 'a', fingerprint: 'f', id: 1, reservedAt: at }]);
    const [tombstone] = await database.collection('products').find().toArray();
    const [reservation] = await database.collection('products_reservations').find().toArray();
    expect([tombstone?.['deletedAt'], reservation?.['reservedAt']]).to.deep.equal([
      new Date(at),
      new Date(at),
    ]);
  });

  it('is swept by nobody else', () => {
    expect(replica().purgeable).to.deep.equal([]);
  });
});
