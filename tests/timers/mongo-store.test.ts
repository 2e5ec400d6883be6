import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Db, type Document } from 'mongodb';
import { checkServer } from '#src/adapters/outbound/mongo/connection.js';
import { MongoStore } from '#src/adapters/outbound/mongo/store.js';
import { StoreConfigError } from '#src/application/ports/store.js';
import { QueryBudget } from '#src/application/records/lists.js';
import { expectAppError } from '../support/expect-refusal.js';
import { FakeClock } from '../support/fakes.js';
import { ScriptedMongo } from '../support/scripted-mongo.js';
import { until } from '../support/until.js';

/** One search at a time with a short queue, and no outage for a minute. */
const OPTIONS = 'replicaSet=rs0&maxPoolSize=4&waitQueueTimeoutMS=200&socketTimeoutMS=2000&heartbeatFrequencyMS=60000';

/** Longer than the store may be silent, with a heartbeat every 500 ms, before a failure is an outage. */
const SILENT_MS = 1_700;

describe('searches in MongoDB', () => {
  let server: ScriptedMongo;
  let address: string;
  let store: MongoStore;
  beforeEach(async () => {
    server = new ScriptedMongo();
    address = await server.start();
    const url = `mongodb://${address}/?${OPTIONS}`;
    store = new MongoStore(url, [], new QueryBudget(new FakeClock(), 20));
    // As at a start: a connection may take longer than the short queue waits for one.
    await until('the store is open', () => store.open());
  });
  afterEach(async () => {
    await store.close();
    await server.stop();
  });

  const messageOf = (search: Promise<unknown>) => search.then(() => 'done').catch((error: Error) => error.message);

  it('run up to a limit, then wait, and are rejected if the queue is long or slow', async () => {
    let finish = () => {};
    const first = store.search(() => new Promise<void>((resolve) => (finish = resolve)));
    const next = Array.from({ length: 11 }, () => store.search(async () => {}));
    await expectAppError(next[10] as Promise<void>, 'unavailable');
    await Promise.all(next.map(async (search) => expect(await messageOf(search)).to.match(/^Too many queries/)));
    finish();
    await first;
    expect(await messageOf(store.search(async () => {}))).to.equal('done');
  });

  it('keep their slot until they end, even after their caller has timed out', async () => {
    let finish = () => {};
    const abandoned = store.search(() => new Promise<void>((resolve) => (finish = resolve)));
    expect(await messageOf(abandoned)).to.equal('The store did not respond in time.');
    expect(await messageOf(store.search(async () => {}))).to.match(/^Too many queries/);
    finish();
    expect(await messageOf(store.search(async () => {}))).to.equal('done');
  });
});

type Operation<Result> = (database: Db) => Promise<Result>;

/** Records the database of each operation. */
class RecordingStore extends MongoStore {
  readonly databases: Db[] = [];

  protected override begin<Result>(operation: Operation<Result>): Promise<Result> {
    return super.begin((database) => {
      this.databases.push(database);
      return operation(database);
    });
  }
}

describe('a store with a MongoDB server', () => {
  let script: (name: string, command: Document) => Document | 'silence' | undefined;
  let server: ScriptedMongo;
  let store: MongoStore | undefined;
  beforeEach(() => {
    script = () => undefined;
    server = new ScriptedMongo((name, command) => script(name, command));
  });
  afterEach(async () => {
    await store?.close();
    await server.stop();
  });
  const storeOf = async <Kind extends MongoStore>(
    Kind: new (...args: ConstructorParameters<typeof MongoStore>) => Kind,
    options = '',
  ): Promise<Kind> => {
    const url = `mongodb://${await server.start()}/?replicaSet=rs0${options}`;
    const indexes = [{ collection: 'products', indexes: [{ key: { a: 1 } }] }];
    return new Kind(url, indexes, new QueryBudget(new FakeClock(), 20));
  };

  it('begins no outage because the server gives a search up while heartbeats are late', async () => {
    let areLate = false;
    const tooLong = { ok: 0, code: 50, codeName: 'MaxTimeMSExpired', errmsg: 'operation exceeded time limit' };
    script = (name, { client }) => {
      if (name === 'find') return tooLong;
      // The handshake of a new connection names the client; a heartbeat does not.
      return areLate && !client && ['hello', 'ismaster'].includes(name) ? 'silence' : undefined;
    };
    const searched = await storeOf(MongoStore, '&heartbeatFrequencyMS=500&connectTimeoutMS=60000');
    store = searched;
    await searched.open();
    areLate = true;
    await sleep(SILENT_MS);
    const search = searched.search((database) => database.collection('products').find().toArray());
    await expectAppError(search, 'query_too_expensive');
    await searched.ping();
  });

  it('asks the driver for nothing while it knows that the server is away', async () => {
    const left = await storeOf(MongoStore, '&serverSelectionTimeoutMS=1000');
    store = left;
    await left.open();
    await server.stop();
    let asked = 0;
    const find = async (database: Db) => {
      asked++;
      await database.collection('products').findOne();
    };
    await until('the outage is known', async () => {
      const before = asked;
      await expectAppError(left.run(find), 'unavailable');
      return asked === before;
    });
    const before = asked;
    for (let call = 0; call < 20; call++) {
      await expectAppError(left.run(find), 'unavailable');
      await expectAppError(left.search(find), 'unavailable');
    }
    expect(asked).to.equal(before);
  });

  it('does not connect for its indexes if it is closed while it opens', async () => {
    class ClosingStore extends MongoStore {
      protected override async begin<Result>(operation: Operation<Result>): Promise<Result> {
        const result = await super.begin(operation);
        await this.close();
        return result;
      }
    }
    store = await storeOf(ClosingStore);
    await expectAppError(store.open(), 'unavailable');
    expect(server.commandsNamed('listIndexes')).to.deep.equal([]);
  });

  it('keeps its client if the server refuses to open it', async () => {
    // The server responds, so its failure is no outage, which would refuse every operation.
    const busy = { ok: 0, code: 24, codeName: 'LockTimeout', errmsg: 'busy' };
    script = (name, { $db }) => (name === 'hello' && $db === 'catalogue' ? busy : undefined);
    const refused = await storeOf(RecordingStore);
    store = refused;
    for (let attempt = 0; attempt < 2; attempt++) await expectAppError(refused.open(), 'unavailable');
    const [first, second] = refused.databases;
    expect(first).to.be.instanceOf(Db).and.to.equal(second);
  });

  it('replaces a client that never connected', async () => {
    script = () => 'silence';
    const late = await storeOf(RecordingStore, '&serverSelectionTimeoutMS=100&connectTimeoutMS=60000');
    store = late;
    await expectAppError(late.open(), 'unavailable');
    script = () => undefined;
    await until('the store opens', () => late.open());
    expect(late.databases.at(-1)).to.not.equal(late.databases[0]);
  });
});

describe('checkServer', () => {
  const MEMBER = { setName: 'rs0', isWritablePrimary: true, maxWireVersion: 13 };
  const ROUTER = { msg: 'isdbgrid', isWritablePrimary: true, maxWireVersion: 27 };
  const STANDALONE = { isWritablePrimary: true, maxWireVersion: 27 };

  it('accepts a member of a replica set, and a router', () => {
    for (const hello of [MEMBER, ROUTER]) checkServer(hello);
  });

  it('rejects a standalone server', () => {
    expect(() => checkServer(STANDALONE)).to.throw(StoreConfigError, 'A replica set is needed');
  });

  it('rejects a server older than 5.0', () => {
    for (const hello of [MEMBER, ROUTER])
      expect(() => checkServer({ ...hello, maxWireVersion: 9 })).to.throw(StoreConfigError, 'older than MongoDB 5.0');
  });

  it('reports a replica set that is not initiated yet as unavailable', async () => {
    const check = (async () => checkServer({ ...STANDALONE, isreplicaset: true }))();
    await expectAppError(check, 'unavailable');
  });

  it('runs at the start, before any collection is created', async () => {
    const commands: Document[] = [];
    class StandaloneStore extends MongoStore {
      protected override begin<Result>(operation: Operation<Result>): Promise<Result> {
        const database = { command: async (command: Document) => commands.push(command) && STANDALONE };
        return operation(database as never);
      }
    }
    const indexes = [{ collection: 'products', indexes: [{ key: { a: 1 } }] }];
    const store = new StandaloneStore('mongodb://127.0.0.1:1', indexes, new QueryBudget(new FakeClock(), 20));
    const outcome = await store.open().catch((error: unknown) => error);
    expect(outcome).to.be.instanceOf(StoreConfigError);
    expect(commands).to.deep.equal([{ hello: 1 }]);
    await store.close();
  });
});
