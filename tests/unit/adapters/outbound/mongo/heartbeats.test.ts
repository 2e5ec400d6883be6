import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { MongoClient } from 'mongodb';
import { onStuckHeartbeat } from '#src/adapters/outbound/mongo/connection.js';
import { MongoStore } from '#src/adapters/outbound/mongo/store.js';
import { expectAppError } from '../../../../support/expect-refusal.js';
import { ScriptedMongo } from '../../../../support/scripted-mongo.js';
import { ENDLESS } from '../../../../support/tables.js';
import { until } from '../../../../support/until.js';

/** The limit is the sum of these plus two seconds. */
const OPTIONS = { connectTimeoutMS: 100, heartbeatFrequencyMS: 500 };
const OVER_LIMIT_MS = 3_200;

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
    await store.open();
    const client = await store.run(async (database) => database.client);
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
    startHeartbeat('never ends');
    startHeartbeat('another ends').emit('serverHeartbeatSucceeded', { connectionId: 'b:1' });
    startHeartbeat('succeeds').emit('serverHeartbeatSucceeded', { connectionId: 'a:1' });
    startHeartbeat('fails').emit('serverHeartbeatFailed', { connectionId: 'a:1' });
    startHeartbeat('server closed').emit('serverClosed', { address: 'a:1' });
    startHeartbeat('without a time-out', { ...OPTIONS, connectTimeoutMS: 0 });
    [store, first] = await connect(server);
    [interrupted] = await connect(unreliable);
    isDown = true;
    await sleep(OVER_LIMIT_MS);
  });
  after(async () => {
    await Promise.all([store.close(), interrupted.close()]);
    await Promise.all([server.stop(), unreliable.stop()]);
  });

  it('is stuck if it does not end in time, but not if it succeeds, fails or its server is closed', () => {
    expect(stuck).to.deep.equal(['never ends', 'another ends']);
  });

  it('that is stuck makes the store reconnect', async () => {
    expect(await store.run(async (database) => database.client)).to.not.equal(first);
    await store.ping();
  });

  it('that is stuck during an outage makes the store reconnect after it', async () => {
    await expectAppError(interrupted.ping(), 'unavailable');
    isDown = false;
    await until('the store reconnects', () => interrupted.ping());
  });
});
