import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { MongoClient } from 'mongodb';
import { MongoProcess } from '../support/mongo-process.js';
import { mongoUrl, patience, throughProxy } from '../support/mongo-url.js';
import { createTemporaryFolder } from '../support/temporary-folder.js';
import type { TestStoreProvider } from './provider.js';

export const MONGODB: TestStoreProvider = {
  name: 'mongodb',
  isLocal: false,
  beyond: (position) => position.replace(/\d+$/, (change) => `${Number(change) + 1}`),
  // The stand-in is; so are some servers.
  pace: 'slow',
  removesExpired: true,
  create: async () => {
    const url = await urlOf(`test-${randomUUID()}`);
    const client = new MongoClient(url);
    const database = client.db();
    return {
      settings: { STORE: 'mongodb', MONGODB_URL: url },
      empty: async () => {
        for (const collection of await database.collections()) await collection.deleteMany();
        return true;
      },
      remove: async () => {
        await database.dropDatabase();
        await client.close();
      },
    };
  },
  ...(process.env['MONGODB_URL'] && { createDurable: () => MONGODB.create('') }),
  unreachable: (password) => ({
    MONGODB_URL: `mongodb://ann:${password}@127.0.0.1:1/catalogue?serverSelectionTimeoutMS=200`,
  }),
  startServer: async (folder) => {
    const server = await MongoProcess.onFreePort(folder);
    await server.run();
    return {
      settings: { STORE: 'mongodb', MONGODB_URL: server.url('outages') },
      port: server.port,
      through: (port) => ({ STORE: 'mongodb', MONGODB_URL: throughProxy(server.url('outages'), port) }),
      suspend: async () => server.hang(),
      resume: async () => server.resume(),
      kill: () => server.kill(),
      restart: () => server.run(),
      remove: () => server.kill(),
    };
  },
};

/** The stand-in of this process, which runs if MONGODB_URL names no server. */
let standIn: Promise<MongoProcess> | undefined;

async function urlOf(database: string): Promise<string> {
  if (process.env['MONGODB_URL']) return mongoUrl(database);
  standIn ??= startStandIn();
  return `${(await standIn).url(database)}&${patience()}`;
}

async function startStandIn(): Promise<MongoProcess> {
  const folder = createTemporaryFolder();
  const server = await MongoProcess.onFreePort(folder);
  await server.run();
  server.endWithThisProcess(() => rmSync(folder, { recursive: true, force: true }));
  return server;
}
