import { expect } from 'chai';
import type { Document } from 'mongodb';
import { checkServer } from '#src/adapters/outbound/mongo/connection.js';
import { MongoStore } from '#src/adapters/outbound/mongo/store.js';
import { QueryBudget } from '#src/application/maintenance/query-budget.js';
import { StoreConfigError } from '#src/application/ports/store.js';
import { expectRefusal } from '../../../../support/expect-refusal.js';
import { FakeClock } from '../../../../support/fakes.js';

/** One search at a time, and nobody waits long; nothing is asked of the server. */
const URL = 'mongodb://127.0.0.1:1/?maxPoolSize=4&waitQueueTimeoutMS=10&socketTimeoutMS=10';

describe('searches in MongoDB', () => {
  let store: MongoStore;
  beforeEach(() => {
    store = new MongoStore(URL, [], new QueryBudget(new FakeClock(), 20));
  });
  afterEach(() => store.close());

  const messageOf = (search: Promise<unknown>) =>
    search.then(
      () => 'done',
      (error: Error) => error.message,
    );

  it('run so many at a time, wait in line, and are refused where the line is long or slow', async () => {
    let finish = () => {};
    const first = store.search(() => new Promise<void>((resolve) => (finish = resolve)));
    const next = Array.from({ length: 11 }, () => store.search(async () => {}));
    await expectRefusal(next[10] as Promise<void>, 'unavailable');
    await Promise.all(
      next.map(async (search) => expect(await messageOf(search)).to.match(/^Too many queries/)),
    );
    finish();
    await first;
    expect(await messageOf(store.search(async () => {}))).to.equal('done');
  });

  it('give their turn back when they fail', async () => {
    for (let attempt = 0; attempt < 3; attempt++) {
      const failing = store.search(() => Promise.reject(new Error('no such thing')));
      expect(await messageOf(failing)).to.equal('no such thing');
    }
  });

  it('keep their turn for as long as they run, whoever still waits for them', async () => {
    let finish = () => {};
    const abandoned = store.search(() => new Promise<void>((resolve) => (finish = resolve)));
    expect(await messageOf(abandoned)).to.equal('The store did not respond in time.');
    expect(await messageOf(store.search(async () => {}))).to.match(/^Too many queries/);
    finish();
    expect(await messageOf(store.search(async () => {}))).to.equal('done');
  });

  it('that never begin lose no turn', async () => {
    await store.close();
    for (let attempt = 0; attempt < 3; attempt++)
      expect(await messageOf(store.search(async () => {}))).to.equal('The store is closed.');
  });
});

describe('a server of MongoDB', () => {
  const MEMBER = { setName: 'rs0', isWritablePrimary: true, maxWireVersion: 13 };
  const ROUTER = { msg: 'isdbgrid', isWritablePrimary: true, maxWireVersion: 27 };
  const STANDALONE = { isWritablePrimary: true, maxWireVersion: 27 };

  it('is used where it belongs to a replica set, or routes to some', () => {
    for (const hello of [MEMBER, ROUTER]) checkServer(hello);
  });

  it('is refused where it stands alone', () => {
    expect(() => checkServer(STANDALONE)).to.throw(StoreConfigError, 'A replica set is needed');
  });

  it('is refused where it is older than 5.0', () => {
    for (const hello of [MEMBER, ROUTER])
      expect(() => checkServer({ ...hello, maxWireVersion: 9 })).to.throw(
        StoreConfigError,
        'older than MongoDB 5.0',
      );
  });

  it('is waited for where its replica set is yet to be initiated', async () => {
    const validated = (async () => checkServer({ ...STANDALONE, isreplicaset: true }))();
    await expectRefusal(validated, 'unavailable');
  });

  it('is judged at the start, before anything is made in it', async () => {
    const requested: Document[] = [];
    class StandaloneStore extends MongoStore {
      override run<Result>(operation: Parameters<MongoStore['run']>[0]): Promise<Result> {
        const database = { command: async (command: Document) => requested.push(command) && STANDALONE };
        return operation(database as never, 1_000) as Promise<Result>;
      }
    }
    const indexes = [{ collection: 'products', indexes: [{ key: { a: 1 } }] }];
    const store = new StandaloneStore(URL, indexes, new QueryBudget(new FakeClock(), 20));
    const outcome = await store.open().catch((error: unknown) => error);
    expect(outcome).to.be.instanceOf(StoreConfigError);
    expect(requested).to.deep.equal([{ hello: 1 }]);
    await store.close();
  });
});
