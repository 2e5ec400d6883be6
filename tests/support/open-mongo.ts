import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { mongoStorage } from '#src/composition/mongo-storage.js';
import type { OpenRepository } from '../contract/repository.contract.js';
import { mongoUrl } from './mongo-url.js';
import { ENDLESS } from './tables.js';

/** Opens the repositories of a new MongoDB database, which `close` drops. */
export async function openMongo(): Promise<OpenRepository> {
  const url = mongoUrl(`test-${randomUUID()}`);
  const { store, ...storage } = mongoStorage({ url, budget: ENDLESS });
  await store.open();
  return {
    ...storage,
    close: async () => {
      await store.close();
      await dropDatabase(url);
    },
  };
}

async function dropDatabase(url: string): Promise<void> {
  const client = new MongoClient(url);
  await client.db().dropDatabase();
  await client.close();
}
