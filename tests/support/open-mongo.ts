import { randomUUID } from 'node:crypto';
import { MongoArchive } from '#src/adapters/outbound/mongo/mongo-archive.js';
import { MongoRepository } from '#src/adapters/outbound/mongo/mongo-repository.js';
import { MongoStore } from '#src/adapters/outbound/mongo/mongo-store.js';
import { type MongoTable, mongoTable } from '#src/adapters/outbound/mongo/mongo-table.js';
import type { Product } from '#src/domain/product.js';
import type { User } from '#src/domain/user.js';
import type { OpenArchive } from '../contract/archive.contract.js';
import { mongoUrl } from './mongo-url.js';
import { ENDLESS, PRODUCTS, USERS } from './tables.js';

const PRODUCT_COLLECTION: MongoTable<Product> = mongoTable(PRODUCTS);
const USER_COLLECTION: MongoTable<User> = mongoTable(USERS);

/** In a database of its own, which is gone when the store is closed. */
export async function openMongo(): Promise<OpenArchive> {
  const store = new MongoStore(mongoUrl(`test-${randomUUID()}`), [PRODUCTS, USERS], ENDLESS);
  await store.open();
  return {
    products: new MongoRepository(store, PRODUCT_COLLECTION),
    users: new MongoRepository(store, USER_COLLECTION),
    archive: new MongoArchive(store, PRODUCT_COLLECTION),
    close: async () => {
      await store.run((database) => database.dropDatabase());
      await store.close();
    },
  };
}
