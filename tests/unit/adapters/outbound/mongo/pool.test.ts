import { expect } from 'chai';
import type { Document } from 'mongodb';
import { mongoStorage } from '#src/adapters/outbound/mongo/storage.js';
import type { PoolFigures } from '#src/application/ports/store.js';
import { type Storage, storageOf } from '#src/composition/storage.js';
import { expectAppError } from '../../../../support/expect-refusal.js';
import { batchOf, ScriptedMongo } from '../../../../support/scripted-mongo.js';
import { ENDLESS, TABLES } from '../../../../support/tables.js';
import { until } from '../../../../support/until.js';

const FOUND = batchOf([]);

describe('the pool of connections to MongoDB', () => {
  let server: ScriptedMongo;
  let storage: Storage;
  let answers: ((found: Document) => void)[];
  const pool = () => storage.store.pools?.()[0] as PoolFigures;
  const expectPool = (expected: Partial<PoolFigures>) =>
    until(JSON.stringify(expected), () => expect(pool()).to.include(expected));

  beforeEach(async () => {
    answers = [];
    server = new ScriptedMongo((name, { find }) =>
      name === 'find' && find === 'products' ? new Promise((resolve) => answers.push(resolve)) : undefined,
    );
    const url = `mongodb://${await server.start()}/x?replicaSet=rs0&minPoolSize=0&maxPoolSize=2`;
    storage = storageOf(mongoStorage({ url: `${url}&waitQueueTimeoutMS=1200`, tables: TABLES, budget: ENDLESS }));
  });
  afterEach(async () => {
    for (const answer of answers) answer(FOUND);
    await storage.store.close();
    await server.stop();
  });

  it('tells how many are used and idle, and how many calls wait or waited in vain', async () => {
    expect(pool()).to.deep.equal({ pool: 'mongodb', used: 0, idle: 0, max: 2, waiting: 0, timeouts: 0 });
    await storage.store.open();
    const calls = [1, 2].map((id) => storage.products.find(id));
    await until('the server has both calls', () => expect(answers).to.have.length(2));
    expect(pool()).to.include({ used: 2, idle: 0, waiting: 0 });
    // Only now, so that its patience does not end while the connections are made.
    const late = expectAppError(storage.products.find(3), 'unavailable');
    await expectPool({ used: 2, idle: 0, waiting: 1 });
    await late;
    expect(pool()).to.include({ used: 2, idle: 0, waiting: 0, timeouts: 1 });
    for (const answer of answers) answer(FOUND);
    await Promise.all(calls);
    await expectPool({ used: 0, idle: 2, waiting: 0, timeouts: 1 });
  });

  it('has no connections after they are lost', async () => {
    await storage.store.open();
    const call = storage.products.find(1);
    await expectPool({ used: 1 });
    await until('the server has the call', () => expect(answers).to.have.length(1));
    for (const answer of answers) answer(FOUND);
    await call;
    await expectPool({ used: 0, idle: 1 });
    server.disconnect();
    await expectPool({ used: 0, idle: 0 });
  });
});
