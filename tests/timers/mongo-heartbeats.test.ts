import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type { MongoClient } from 'mongodb';
import { onStuckHeartbeat } from '#src/adapters/outbound/mongo/connection.js';
import { MongoStore } from '#src/adapters/outbound/mongo/store.js';
import { expectAppError } from '../support/expect-refusal.js';
import { ScriptedMongo } from '../support/scripted-mongo.js';
import { ENDLESS } from '../support/tables.js';
import { until } from '../support/until.js';

/** The limit is the sum of these plus two seconds. The heartbeats that end would be stuck before "another". */
const OPTIONS = { connectTimeoutMS: 100, heartbeatFrequencyMS: 500 };

describe('a heartbeat of the MongoDB driver', () => {
  const stuck: string[] = [];
  const server = new ScriptedMongo();
  let isDown = false;
  const unreliable = new ScriptedMongo(() => (isDown ? 'reset' : undefined));
  let store: MongoStore;
  let interrupted: MongoStore;
  let first: MongoClient;

  const connect = async (mongo: ScriptedMongo): Promise<[MongoStore, MongoClient]> => {
    const options = Object.entries({ ...OPTIONS, serverSelectionTimeoutMS: 200 });
    const query = options.map(([name, value]) => `${name}=${value}`).join('&');
    const store = new MongoStore(`mongodb://${await mongo.start()}/x?${query}`, [], ENDLESS);
    await until('the store is open', () => store.open());
    let client: MongoClient | undefined;
    await until('the store runs', async () => {
      client = await store.run(async (database) => database.client);
    });
    if (!client) throw new Error('there is no client');
    client.emit('serverHeartbeatStarted', { connectionId: 'stuck:1' } as never);
    return [store, client];
  };

  // All tests share one wait.
  before(async () => {
    const startHeartbeat = (name: string, options: object = OPTIONS) => {
      const client = Object.assign(new EventEmitter(), { options });
      onStuckHeartbeat(client as unknown as MongoClient, () => stuck.push(name));
      client.emit('serverHeartbeatStarted', { connectionId: 'a:1' });
      return client;
    };
    startHeartbeat('succeeds').emit('serverHeartbeatSucceeded', { connectionId: 'a:1' });
    startHeartbeat('fails').emit('serverHeartbeatFailed', { connectionId: 'a:1' });
    startHeartbeat('server closed').emit('serverClosed', { address: 'a:1' });
    startHeartbeat('without a time-out', { ...OPTIONS, connectTimeoutMS: 0 });
    startHeartbeat('never ends');
    startHeartbeat('another ends').emit('serverHeartbeatSucceeded', { connectionId: 'b:1' });
    [store, first] = await connect(server);
    [interrupted] = await connect(unreliable);
    isDown = true;
    await until('two are stuck', () => stuck.length >= 2);
  });
  after(async () => {
    await Promise.all([store.close(), interrupted.close()]);
    await Promise.all([server.stop(), unreliable.stop()]);
  });

  it('is stuck if it does not end in time, but not if it succeeds, fails or its server is closed', () => {
    expect(stuck).to.deep.equal(['never ends', 'another ends']);
  });

  it('that is stuck makes the store reconnect', async () => {
    const current = () => store.run(async (database) => database.client);
    await until('there is another client', async () => (await current()) !== first);
    await until('the store responds', () => store.ping());
  });

  it('that is stuck during an outage makes the store reconnect after it', async () => {
    await expectAppError(interrupted.ping(), 'unavailable');
    isDown = false;
    await until('the store reconnects', () => interrupted.ping());
  });
});
