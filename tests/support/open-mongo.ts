import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { mongoStorage } from '#src/adapters/outbound/mongo/storage.js';
import { storageOf } from '#src/composition/storage.js';
import type { OpenRepository, SharedRepository } from '../contract/repository/test-store.js';
import { mongoUrl } from './mongo-url.js';
import { ENDLESS, TABLES } from './tables.js';

/** Opens the repositories of a new MongoDB database, which `close` drops. */
export async function openMongo(): Promise<SharedRepository> {
  const url = mongoUrl(`test-${randomUUID()}`);
  const opened = await openDatabase(url);
  return {
    ...opened,
    again: () => openDatabase(url),
    close: async () => {
      await opened.close();
      await dropDatabase(url);
    },
  };
}

async function openDatabase(url: string): Promise<OpenRepository> {
  const { store, ...storage } = storageOf(mongoStorage({ url, tables: TABLES, budget: ENDLESS }));
  await store.open();
  return { ...storage, close: () => store.close() };
}

async function dropDatabase(url: string): Promise<void> {
  const client = new MongoClient(url);
  await client.db().dropDatabase();
  await client.close();
}
