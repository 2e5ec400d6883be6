import { expect } from 'chai';
import { Binary, type Document, Timestamp } from 'mongodb';
import { checkMongo } from '#src/adapters/outbound/mongo/check.js';
import { wantedIndexes } from '#src/adapters/outbound/mongo/indexes.js';
import { MongoRepository } from '#src/adapters/outbound/mongo/repository.js';
import { MongoReservations } from '#src/adapters/outbound/mongo/small-tables.js';
import { mongoStorage } from '#src/adapters/outbound/mongo/storage.js';
import { MongoStore } from '#src/adapters/outbound/mongo/store.js';
import { BY_ID, type Filter } from '#src/application/ports/list-query.js';
import { type Storage, storageOf } from '#src/composition/storage.js';
import type { Product } from '#src/domain/product.js';
import type { Id } from '#src/domain/record.js';
import { yieldToEventLoop } from '#src/shared/promises.js';
import { by, product } from '../../../../contract/repository/records.js';
import { reservation } from '../../../../contract/repository/reservations.js';
import { expectAppError } from '../../../../support/expect-refusal.js';
import { list } from '../../../../support/list.js';
import { nameOf } from '../../../../support/mongo-wire.js';
import { batchOf, type Scripted, ScriptedMongo } from '../../../../support/scripted-mongo.js';
import { ENDLESS, PRODUCTS, TABLES } from '../../../../support/tables.js';
import { until } from '../../../../support/until.js';

/** Commands about the connection or the server, not about data. */
const ADMINISTRATION = ['hello', 'ismaster', 'ping', 'endSessions', 'listIndexes', 'createIndexes'];

/** A feed that is on. @param finds what the first two commands of a kind find; later ones find nothing but the head */
function firstOf(finds: Readonly<Record<string, readonly Document[]>>): Script {
  const times = new Map<string, number>();
  return (name, command) => {
    if (name !== 'find') return undefined;
    const kind = `find ${command['find']} ${command['hint'] ?? JSON.stringify(command['filter'])}`;
    const time = (times.get(kind) ?? 0) + 1;
    times.set(kind, time);
    const head = /_changes (?!.*:1})/.test(kind) ? [{ _id: 0, epoch: 'e', floor: 0 }] : [];
    return batchOf((time <= 2 ? finds[kind] : undefined) ?? head);
  };
}

type Script = (name: string, command: Document) => Scripted | undefined;

describe('the commands to MongoDB', () => {
  let server: ScriptedMongo;
  let script: Script;
  let storage: Storage;
  let url: string;

  beforeEach(async () => {
    script = () => undefined;
    server = new ScriptedMongo((...command) => script(...command));
    url = `mongodb://${await server.start()}/x?replicaSet=rs0`;
    storage = storageOf(mongoStorage({ url, tables: TABLES, budget: ENDLESS }));
    await storage.store.open();
    server.commands.length = 0;
  });
  afterEach(async () => {
    await storage.store.close();
    await server.stop();
  });

  it('have a time limit, and a read or write concern', async () => {
    const { products, reservations, usage, archives, feedState } = storage;
    const [recordArchive, reservationArchive] = [archives.records[0], archives.reservations[0]];
    await products.reserveIds(3);
    await products.releaseIds(1, 2);
    await products.insertAll([product(1)]);
    await products.insertAll([product(2), product(3)]);
    await products.replaceAll([{ record: product(1), expected: 1 }]);
    await products.removeAll([{ id: 1, expected: 1, at: 0 }]);
    await products.find(1);
    await products.confirmAll([{ id: 1, version: 1 }]);
    await products.findExistingIds([1]);
    await products.findUsedIds([1]);
    await products.findByUnique('sku', 'x');
    await products.findAllByUnique('sku', ['x']);
    await products.list({ limit: 1, filters: [], order: BY_ID });
    await products.list({ limit: 1, filters: [], order: by('name,brand,id') });
    await products.count([]);
    await products.facets({ limit: 1, filters: [], fields: [{ field: 'tags' }, { field: 'brand' }] });
    await reservations.products.reserve([reservation('a')]);
    await reservations.products.find(['a']);
    await usage.save([{ keyId: 1, hour: 0, counter: 'a', routes: [] }]);
    await usage.find([1], 0);
    script = firstOf({
      'find products live_updatedAt': [{ _id: 8, deletedAt: new Date(0) }],
      'find products pending': [{ _id: 7, version: 1, live: true }],
      'find products_changes {"_id":0}': [],
      'find products_changes {"_id":{"$gte":1}}': [1, 2].map((_id) => ({ _id, id: 7, at: new Date(0) })),
    });
    await feedState.turnOn();
    await feedState.maintain?.(Date.now());
    await storage.changes.products.read(await storage.changes.products.end(), 10);
    await feedState.reset();
    await feedState.turnOff();
    await recordArchive?.read(0, 1);
    await recordArchive?.add([product(1)]);
    await recordArchive?.discard([1]);
    await recordArchive?.nextId();
    await recordArchive?.raiseNextId(5);
    await recordArchive?.changeMark();
    await reservationArchive?.read('', 1);
    await reservationArchive?.add([reservation('a')]);
    await reservationArchive?.discard(['a']);
    const dataCommands = server.commands.filter((command) => !ADMINISTRATION.includes(Object.keys(command)[0] ?? ''));
    expect(dataCommands.length).to.be.at.least(60);
    for (const { $db, lsid, ...command } of dataCommands) {
      const text = JSON.stringify(command);
      expect(command['maxTimeMS'], text).to.be.within(1, 2_000);
      const [name = ''] = Object.keys(command);
      if (['insert', 'update', 'delete', 'findAndModify'].includes(name))
        expect(command['writeConcern'], text).to.deep.equal({ w: 'majority', wtimeout: 1_500, j: true });
      else expect(command['readConcern'].level, text).to.be.oneOf(['majority', 'snapshot', 'linearizable']);
    }
    const confirming = dataCommands.filter(({ readConcern }) => readConcern?.level === 'linearizable');
    expect(confirming.map(({ filter }) => filter)).to.deep.equal([{ _id: 1, version: 1, live: true }]);
  });

  it('read at most some mebibytes of an archive at a time', async () => {
    const fields = { name: 'x'.repeat(1024 * 1024) };
    const all = Array.from({ length: 10 }, (_, at) => ({ ...product(at + 1), fields, live: true }));
    const at = new Date(0);
    const documents = all.map(({ id, ...rest }) => ({ _id: id, ...rest, createdAt: at, updatedAt: at }));
    script = (name) => (name === 'find' ? batchOf(documents) : undefined);
    const page = await storage.archives.records[0]?.read(0, 1_000);
    expect(page?.map(({ id }) => id)).to.deep.equal([1, 2, 3, 4]);
  });

  it('of the feed see what the ones before them saw, on any member', async () => {
    let time = 0;
    const timeOf = (seconds: number) => new Timestamp({ t: seconds, i: 1 });
    let lists = 0;
    script = (name, command) => {
      if (ADMINISTRATION.includes(name)) return undefined;
      time += 1;
      const operationTime = timeOf(time);
      const signature = { hash: new Binary(Buffer.alloc(20)), keyId: 1n };
      const $clusterTime = { clusterTime: operationTime, signature };
      const head = { _id: 0, epoch: 'e', floor: 0 };
      const pending = { _id: 7, version: 1, live: true };
      if (name === 'find') {
        const isOfLog = command['find'] === 'products_changes';
        const found = isOfLog ? [head] : lists++ < 2 ? [pending] : [];
        return { ...batchOf(found), operationTime, $clusterTime };
      }
      const n = (command['documents'] ?? command['updates'])?.length ?? 1;
      return { n, operationTime, $clusterTime };
    };
    server.commands.length = 0;
    await storage.changes.products.read('e.0', 10);
    const commands = server.commands.filter((command) => !ADMINISTRATION.includes(nameOf(command)));
    expect(commands.map((command) => `${nameOf(command)} ${command[nameOf(command)]}`)).to.deep.equal(
      list`find products  find products_changes  find products  insert products_changes  find products_changes
        update products  find products_changes  find products_changes`,
    );
    const seen = commands.map(({ readConcern }) => readConcern['afterClusterTime']);
    expect(seen, 'each names the time of the one before').to.deep.equal(
      [undefined, 1, 2, 3, 4, 5, 6, 7].map((seconds) => seconds && timeOf(seconds)),
    );
  });

  describe('to a server of another make, which takes an int32 and an int64 of one value for equal', () => {
    const outcomeOf = (attempt: Promise<unknown>) =>
      attempt.then(String, (error: Error) => `${error.constructor.name}: ${error.message}`);
    const scratch: Script = (name, { deletes }) => (name === 'delete' && deletes[0].q.version ? { n: 0 } : undefined);

    it('are found at the start and by a check, by a document that is gone then', async () => {
      script = scratch;
      server.commands.length = 0;
      expect(await outcomeOf(storage.feedState.turnOn())).to.match(
        /^StoreConfigError: .* takes an int32 and an int64 /,
      );
      const { diagnoses } = await checkMongo(url, TABLES, Date.now);
      expect(diagnoses.map(({ verdict, message }) => `${verdict} ${message}`).join()).to.match(
        /^wrong MONGODB_URL leads to a server of another make [^\n]*; use MongoDB itself, or set CHANGES=off$/,
      );
      const ids = server.commandsNamed('insert').map(({ documents }) => documents[0]._id);
      expect([ids.length, new Set(ids).size]).to.deep.equal([2, 2]);
      expect(server.commandsNamed('delete').map(({ deletes }) => deletes[0].q)).to.deep.equal(
        ids.flatMap((_id) => [{ _id, version: { $type: 'long' } }, { _id }]),
      );
      expect(server.commandsNamed('drop')).to.have.length(1);
    });

    it('get no second round of what has no effect', async () => {
      const head = { _id: 0, epoch: 'e', floor: 0 };
      const pending = Array.from({ length: 1_000 }, (_, at) => ({ _id: at + 1, version: 1, live: true }));
      script = (name, command) => {
        if (name === 'update') return { n: command['updates'].length, nModified: 0 };
        if (name !== 'find') return undefined;
        return batchOf(command['find'] === 'products_changes' ? [head] : pending.slice(0, command['limit']));
      };
      for (let poll = 0; poll < 2; poll++) {
        server.commands.length = 0;
        expect(await outcomeOf(storage.changes.products.read('e.0', 10))).to.match(
          /^StoreConfigError: .* does not make/,
        );
        expect(server.commandsNamed('insert')).to.have.length(poll === 0 ? 1 : 0);
      }
    });
  });

  it('are an aggregation only for an order that needs one', async () => {
    const present: Filter = { field: 'stock', operator: 'exists', value: true };
    for (const [sort, filters] of [
      ['-stock,id', [present]],
      ['name,-brand,id', []],
      ['sku,brand,id', []],
      ['name,brand,-id', []],
    ] as const)
      await storage.products.list({ limit: 2, filters, order: by(sort) });
    const names = server.commands.map(nameOf).filter((name) => !ADMINISTRATION.includes(name));
    expect(names).to.deep.equal(['find', 'find', 'find', 'aggregate']);
  });

  it('count in one aggregation with filters, and else in one a field, which its index serves', async () => {
    const fields = [{ field: 'brand' }, { field: 'tags' }, { field: 'attributes', key: '$k' }];
    await storage.products.facets({ limit: 2, filters: [], fields });
    await storage.products.facets({ limit: 2, filters: [{ field: 'stock', operator: 'gt', value: 0 }], fields });
    const live = { live: true };
    expect(server.commandsNamed('aggregate').map(({ pipeline }) => pipeline[0].$match.$and)).to.deep.equal([
      [live, { 'fields.brand': { $gte: '' } }],
      [live, { 'fields.tags': { $gte: '' } }],
      [live, { 'fields.attributes': { $elemMatch: { key: { $eq: '$k' } } } }],
      [live, { 'fields.stock': { $gt: 0 } }],
    ]);
  });

  it('find many records by queries of 64 values, whose results fit one reply', async () => {
    const values = Array.from({ length: 150 }, (_, at) => `A${at}@x`);
    await storage.users.findAllByUnique('email', values);
    await storage.products.findAllByUnique('id', [2, 1]);
    const queries = server.commandsNamed('find').map(({ filter, batchSize }) => ({ filter, batchSize }));
    const folded = values.map((value) => value.toLowerCase());
    expect(queries).to.deep.equal([
      { filter: { 'folded.email': { $in: folded.slice(0, 64) } }, batchSize: 65 },
      { filter: { 'folded.email': { $in: folded.slice(64, 128) } }, batchSize: 65 },
      { filter: { 'folded.email': { $in: folded.slice(128) } }, batchSize: 23 },
      { filter: { _id: { $in: [2, 1] } }, batchSize: 3 },
    ]);
    expect(await storage.products.findAllByUnique('sku', [])).to.deep.equal([]);
    expect(server.commandsNamed('find')).to.have.length(4);
  });

  it('write many records one by one, 16 at the same time for all calls together', async () => {
    const held: (() => void)[] = [];
    let running = 0;
    let most = 0;
    script = (name, { updates }) => {
      if (name !== 'update') return undefined;
      most = Math.max(most, ++running);
      const response = { n: updates[0].q['_id'] % 3 === 0 ? 0 : 1 };
      return new Promise((respond) => {
        held.push(() => {
          running--;
          respond(response);
        });
      });
    };
    /** Responds to so many writes, the last one first. */
    const release = async (count: number) => {
      await until('the writes arrive', () => held.length === count);
      for (const respond of held.splice(0).reverse()) respond();
    };
    const ids = Array.from({ length: 50 }, (_, at) => at + 1);
    const replacements = ids.map((id) => ({ record: product(id), expected: id }));
    const removals = ids.map((id) => ({ id, expected: id, at: 5 }));
    for (const [write, success, conflict] of [
      [() => storage.products.replaceAll(replacements), 'replaced', 'version_conflict'],
      [() => storage.products.removeAll(removals), true, false],
    ] as const) {
      const outcomes = write();
      for (const count of [16, 16, 16, 2]) await release(count);
      expect(await outcomes).to.deep.equal(ids.map((id) => (id % 3 === 0 ? conflict : success)));
    }
    const both = [storage.products.replaceAll(replacements), storage.users.removeAll(removals)];
    for (const count of [16, 16, 16, 16, 16, 16, 4]) await release(count);
    await Promise.all(both);
    expect(most, 'those of two calls together').to.equal(16);
    const writes: Document[] = server.commandsNamed('update').flatMap(({ updates }) => updates);
    expect(writes.map(({ q }) => q)).to.have.deep.members(
      [...ids, ...ids, ...ids, ...ids].map((id) => ({ _id: id, version: id, live: true })),
    );
  });

  it('are not sent any more for the other records after an error', async () => {
    const MAX_TIME_MS_EXPIRED = 50;
    const begun: Id[] = [];
    script = (name, { filter }) => {
      if (name !== 'find') return undefined;
      begun.push(filter['_id']);
      if (filter['_id'] === 20) return { ok: 0, code: MAX_TIME_MS_EXPIRED, errmsg: 'late' };
      return batchOf([{ _id: filter['_id'] }]);
    };
    const versions = Array.from({ length: 100 }, (_, at) => ({ id: at + 1, version: 1 }));
    await expectAppError(storage.products.confirmAll(versions), 'unavailable');
    await yieldToEventLoop();
    expect(begun).to.include(20).and.not.include(100);
  });

  it('write over the expected version alone, and leave a tombstone in the place of a deleted record', async () => {
    server.commands.length = 0;
    await storage.products.replaceAll([{ record: product(1), expected: 7 }]);
    await storage.products.removeAll([{ id: 1, expected: 8, at: 5 }]);
    const writes: Document[] = server.commandsNamed('update').flatMap(({ updates }) => updates);
    expect(writes.map(({ q }) => q)).to.deep.equal([
      { _id: 1, version: 7, live: true },
      { _id: 1, version: 8, live: true },
    ]);
    const at = new Date(5);
    expect(writes[1]?.['u']).to.deep.equal({ _id: 1, version: 9, updatedAt: at, deletedAt: at });
    expect(server.commandsNamed('delete')).to.deep.equal([]);
  });

  it('search the keys of one block, without the words themselves, once all words are current', async () => {
    const at = new Date(0);
    const found = { _id: 1, live: true, version: 1, createdAt: at, updatedAt: at, fields: {} };
    script = (name) => (name === 'find' ? batchOf([found, found]) : undefined);
    const filters = [{ field: 'q', operator: 'search', words: ['gre', 'lam'] } as const];
    const order = [{ field: 'id', descending: false }];
    await storage.products.list({ limit: 1, filters, order });
    const [{ filter, hint, limit, projection, sort } = {}] = server.commandsNamed('find').slice(-1);
    const options = { hint: 'live_block_words', limit: 2, projection: { words: 0 }, sort: { _id: 1 } };
    expect({ hint, limit, projection, sort }).to.deep.equal(options);
    expect(filter).to.deep.equal({
      $and: [
        { live: true },
        { $and: [{ words: { $regex: '^gre' } }, { words: { $regex: '^lam' } }] },
        { _id: { $gte: 0, $lte: 2_047 } },
        { block: { $gte: 0, $lte: 0 } },
      ],
    });
  });
});

describe('a connection to MongoDB that breaks', () => {
  /** More than a socket accepts at once, so the driver waits for the socket and passes on its error unchanged. */
  const LARGE = 'x'.repeat(8 * 1024 * 1024);
  let server: ScriptedMongo;
  let store: MongoStore;
  let products: MongoRepository<Product>;
  let breaks: boolean;

  beforeEach(async () => {
    breaks = false;
    server = new ScriptedMongo((name) => (breaks && !name.match(/^(hello|ismaster)$/) ? 'reset' : undefined));
    const url = `mongodb://${await server.start()}/x?replicaSet=rs0`;
    store = new MongoStore(url, wantedIndexes([PRODUCTS]), ENDLESS);
    products = new MongoRepository(store, PRODUCTS);
    await store.open();
  });
  afterEach(async () => {
    await store.close();
    await server.stop();
  });

  it('after a command leaves the outcome unknown, and reconnects by itself', async () => {
    breaks = true;
    await expectAppError(products.find(1), 'unavailable');
    await expectAppError(products.insertAll([product(1)]), 'unavailable');
    breaks = false;
    await until('it reconnects', () => products.insertAll([product(1)]));
  });

  it('during a write to the socket leaves the outcome unknown', async () => {
    server.maxBytes = 1024 * 1024;
    const reservations = new MongoReservations(store, PRODUCTS);
    const large = product(1, { description: LARGE });
    const writes = [
      () => products.insertAll([large]),
      () => products.insertAll([large, product(3)]),
      () => products.replaceAll([{ record: large, expected: 1 }]),
      () => reservations.reserve([reservation('a', { fields: LARGE })]),
    ];
    for (const write of writes) {
      await expectAppError(write(), 'unavailable');
      await until('it reconnects', () => products.insertAll([product(2)]));
    }
  });
});

describe('a password of MongoDB that is being changed', () => {
  // The second one is the name that Atlas uses.
  for (const [codeName, code] of Object.entries({ AuthenticationFailed: 18, AtlasError: 8_000 }))
    it(`is an outage, both at the start and later: ${codeName}`, async () => {
      let accepted = false;
      const server = new ScriptedMongo((name) => {
        if (name !== 'saslStart') return undefined;
        return accepted ? { done: true, conversationId: 1 } : { ok: 0, code, codeName, errmsg: 'no' };
      });
      const host = await server.start();
      const url = `mongodb://u:p@${host}/x?replicaSet=rs0&authMechanism=PLAIN`;
      const store = new MongoStore(url, wantedIndexes([PRODUCTS]), ENDLESS);
      const products = new MongoRepository<Product>(store, PRODUCTS);
      const refuses = async () => {
        await expectAppError(products.insertAll([product(1)]), 'unavailable');
        await expectAppError(products.find(1), 'unavailable');
      };
      try {
        await expectAppError(store.open(), 'unavailable');
        accepted = true;
        await store.open();
        expect(await products.insertAll([product(1)])).to.deep.equal(['inserted']);
        accepted = false;
        server.disconnect();
        await refuses();
        accepted = true;
        expect(await products.insertAll([product(2)])).to.deep.equal(['inserted']);
      } finally {
        await store.close();
        await server.stop();
      }
    });
});
