import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { mongoStorage } from '#src/composition/mongo-storage.js';
import type { OpenRepository } from '../contract/repository.contract.js';
import { mongoUrl } from './mongo-url.js';
import { ENDLESS } from './tables.js';

/** In a database of its own, which is gone when the store is closed. */
export async function openMongo(): Promise<OpenRepository> {
  const url = mongoUrl(`test-${randomUUID()}`);
  const { store, ...stored } = mongoStorage({ url, budget: ENDLESS });
  await store.open();
  return {
    ...stored,
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
