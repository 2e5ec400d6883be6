import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Document } from 'mongodb';
import { type CollectionIndexes, findUnusableIndexes, wantedIndexes } from '#src/adapters/outbound/mongo/indexes.js';
import { MongoStore } from '#src/adapters/outbound/mongo/store.js';
import { StoreConfigError } from '#src/application/ports/store.js';
import { expectAppError } from '../../../../support/expect-refusal.js';
import { batchOf, type Scripted, ScriptedMongo } from '../../../../support/scripted-mongo.js';
import { ENDLESS, PRODUCTS } from '../../../../support/tables.js';
import { until } from '../../../../support/until.js';

const ALL = wantedIndexes([PRODUCTS]);
const BY_ID = { v: 2, key: { _id: 1 }, name: '_id_' };

const expectedIndexes = (collection: string): CollectionIndexes => {
  const indexes = ALL.find((one) => one.collection === collection);
  if (!indexes) throw new Error(`no indexes are expected of ${collection}`);
  return indexes;
};

/** The index of a collection, and a part of the error message; without it, the index is accepted. */
type Case = readonly [collection: string, index: Document, prints?: string];

const removing = (key: Document, name: string, expireAfterSeconds: number) => ({ key, name, expireAfterSeconds });
const OUR_SKU = { key: { 'fields.sku': 1 }, name: 'sku', unique: true, sparse: true };

const CASES: Readonly<Record<string, Case>> = {
  'a TTL index next to ours': [
    'products_reservations',
    removing({ reservedAt: 1 }, 'by_hand', 60),
    'products_reservations has an index, by_hand, that removes documents after a time; drop it.',
  ],
  'a TTL index of 0 seconds': ['products', removing({ createdAt: 1 }, 'x', 0), 'removes documents'],
  'a TTL index on the counters of ids': [
    'counters',
    removing({ at: 1 }, 'x', 60),
    'counters has an index, x, that removes documents',
  ],
  'ours with another time': [
    'products_reservations',
    { ...removing({ reservedAt: 1 }, 'ttl_reservedAt', 60), sparse: true },
    'products_reservations has another index, ttl_reservedAt, in the place of ttl_reservedAt',
  ],
  'ours under another name': [
    'products',
    { key: { live: 1, _id: 1 }, name: 'live_1__id_1' },
    'products has another index, live_1__id_1, in the place of live; drop that one.',
  ],
  'another key under our name': [
    'products',
    { key: { live: 1 }, name: 'live' },
    'another index, live, in the place of live',
  ],
  'our unique one, but partial': [
    'products',
    { ...OUR_SKU, partialFilterExpression: { live: true } },
    'in the place of sku',
  ],
  'our unique one with another collation': [
    'products',
    { ...OUR_SKU, collation: { locale: 'en' } },
    'in the place of sku',
  ],
  'a unique index that is not sparse, which rejects all but one of the records without a sku': [
    'products',
    { key: OUR_SKU.key, name: 'by_hand', unique: true },
    'products has an index, by_hand, that is unique and refuses records; drop it.',
  ],
  'a unique index on a field that is not unique': [
    'products',
    { key: { 'fields.name': 1 }, name: 'x', unique: true },
    'is unique',
  ],
  'an index that is being prepared to be unique': [
    'products',
    { key: { 'fields.name': 1 }, name: 'x', prepareUnique: true },
    'is unique',
  ],
  'a geographic index': [
    'products',
    { key: { 'fields.attributes': '2dsphere' }, name: 'x' },
    'is of a kind that refuses some records',
  ],
  'a collection with its own collation': [
    'products',
    { ...BY_ID, collation: { locale: 'en', strength: 2 } },
    'compares text by rules of its own',
  ],
  'the index on _id': ['products', BY_ID],
  'another index that rejects nothing': [
    'products',
    { key: { 'fields.name': 1, 'fields.price.amount': -1 }, name: 'mine', sparse: true },
  ],
  'a partial index with our key': [
    'products',
    { key: { live: 1, _id: 1 }, name: 'mine', partialFilterExpression: { live: true } },
  ],
  'the index of a shard key': ['products', { key: { _id: 'hashed' }, name: '_id_hashed' }],
};

describe('an index of a collection of MongoDB', () => {
  for (const [name, [collection, index, prints]] of Object.entries(CASES))
    it(`is ${prints ? 'rejected' : 'accepted'}: ${name}`, () => {
      const found = findUnusableIndexes(expectedIndexes(collection), [{ v: 2, ...index } as never]);
      expect(found).to.have.length(prints ? 1 : 0);
      if (prints) expect(found[0]).to.include(prints);
    });

  it('is recognised as ours if the server lists default options', () => {
    for (const expected of ALL) {
      const listed = expected.indexes.map((index) => ({ unique: false, sparse: false, ...index, v: 2 }));
      expect(findUnusableIndexes(expected, [BY_ID, ...listed] as never)).to.deep.equal([]);
    }
  });
});

describe('the start on MongoDB', () => {
  let server: ScriptedMongo;
  let store: MongoStore;
  let script: (name: string, command: Document) => Scripted | undefined;

  beforeEach(async () => {
    script = () => undefined;
    server = new ScriptedMongo((...command) => script(...command));
    store = new MongoStore(`mongodb://${await server.start()}/x?replicaSet=rs0&socketTimeoutMS=200`, ALL, ENDLESS);
  });
  afterEach(async () => {
    await store.close();
    await server.stop();
  });

  /** Lets the server make no index until the returned function is called. */
  const holdBuild = () => {
    let finish = (_: Document) => {};
    const built = new Promise<Document>((resolve) => (finish = resolve));
    script = (name) => (name === 'createIndexes' ? built : undefined);
    return finish;
  };
  const listing = (indexes: (collection: string) => Document[]) => (name: string, command: Document) =>
    name === 'listIndexes' ? batchOf(indexes(command['listIndexes'])) : undefined;

  it('creates the indexes of a collection with one command, without a time limit', async () => {
    await store.open();
    const commands = server.commandsNamed('createIndexes');
    expect(commands.map(({ createIndexes, indexes }) => [createIndexes, indexes.length])).to.deep.equal([
      ['products', expectedIndexes('products').indexes.length],
      ['products_reservations', 1],
      ['api_key_usage', 2],
    ]);
    for (const command of commands) expect(command).to.not.have.property('maxTimeMS');
  });

  it('creates nothing if an index would lose or reject records, and reports each of these indexes', async () => {
    const ttl = { v: 2, key: { a: 1 }, name: 'mine', expireAfterSeconds: 1 };
    script = listing(() => [BY_ID, ttl]);
    const error = await store.open().catch((error: unknown) => error);
    expect(error).to.be.instanceOf(StoreConfigError);
    expect((error as Error).message.split('\n')).to.deep.equal(
      ALL.map(({ collection }) => `${collection} has an index, mine, that removes documents after a time; drop it.`),
    );
    expect(server.commandsNamed('createIndexes')).to.deep.equal([]);
  });

  it('checks the indexes of all batches', async () => {
    const ttl = { v: 2, key: { a: 1 }, name: 'mine', expireAfterSeconds: 1 };
    script = (name) => {
      if (name === 'listIndexes') return { cursor: { id: 7n, ns: 'x.products', firstBatch: [BY_ID] } };
      if (name === 'getMore') return { cursor: { id: 0n, ns: 'x.products', nextBatch: [ttl] } };
      return undefined;
    };
    expect(await store.open().catch((error: unknown) => error)).to.be.instanceOf(StoreConfigError);
  });

  it('sends one command for a slow index build despite retries, and continues after the build', async () => {
    const finish = holdBuild();
    const tries = [store.open()];
    await until('the build begins', () => server.commandsNamed('createIndexes').length > 0);
    // Above the time-out of the socket, 200 ms, after which a command would be sent again.
    await sleep(300);
    tries.push(store.open());
    await sleep(300);
    expect(server.commandsNamed('createIndexes')).to.have.length(1);
    finish({});
    await Promise.all(tries);
    expect(server.commandsNamed('createIndexes')).to.have.length(3);
  });

  it('is refused to every operation until the indexes are made, and to none afterwards', async () => {
    const finish = holdBuild();
    const products = store.collection('products');
    const operations = [
      () => store.ping(),
      () => products.run((all) => all.insertOne({})),
      () => products.search((all) => all.find().toArray()),
    ];
    const expectRefusals = async () => {
      for (const operation of operations) await expectAppError(operation(), 'unavailable');
      for (const name of ['ping', 'insert', 'find']) expect(server.commandsNamed(name)).to.deep.equal([]);
    };
    await expectRefusals();
    const opening = store.open();
    await until('the server makes an index', () => server.commandsNamed('createIndexes').length > 0);
    await expectRefusals();
    finish({});
    await opening;
    for (const operation of operations) await operation();
    script = (name) => (name === 'createIndexes' ? 'reset' : undefined);
    await expectAppError(store.open(), 'unavailable');
    for (const operation of operations) await operation();
  });

  for (const code of [85, 86])
    it(`fails if the server reports a conflicting index: ${code}`, async () => {
      script = (name) => (name === 'createIndexes' ? { ok: 0, code, errmsg: 'x' } : undefined);
      const error = await store.open().catch((error: unknown) => error);
      expect(error).to.be.instanceOf(StoreConfigError);
      expect((error as Error).message).to.match(/^products has an index in the place of one/);
    });

  it('succeeds on a retry after a broken connection', async () => {
    let breaks = true;
    script = (name) => (name === 'createIndexes' && breaks ? 'reset' : undefined);
    await expectAppError(store.open(), 'unavailable');
    breaks = false;
    await store.open();
  });
});
