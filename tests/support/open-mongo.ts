import { randomUUID } from 'node:crypto';
import { MongoArchive } from '#src/adapters/outbound/mongo/mongo-archive.js';
import { MongoRepository } from '#src/adapters/outbound/mongo/mongo-repository.js';
import { MongoStore } from '#src/adapters/outbound/mongo/mongo-store.js';
import { mongoTable } from '#src/adapters/outbound/mongo/mongo-table.js';
import { PRODUCTS, repositories, TABLES } from '#src/composition/tables.js';
import type { OpenArchive } from '../contract/archive.contract.js';
import { mongoUrl } from './mongo-url.js';
import { ENDLESS } from './tables.js';

/** In a database of its own, which is gone when the store is closed. */
export async function openMongo(): Promise<OpenArchive> {
  const store = new MongoStore(mongoUrl(`test-${randomUUID()}`), TABLES, ENDLESS);
  await store.open();
  return {
    ...repositories((table) => new MongoRepository(store, mongoTable(table))),
    archive: new MongoArchive(store, mongoTable(PRODUCTS)),
    close: async () => {
      await store.run((database) => database.dropDatabase());
      await store.close();
    },
  };
}
