import { randomUUID } from 'node:crypto';
import { MongoRepository } from '#src/adapters/outbound/mongo/mongo-repository.js';
import { MongoStore } from '#src/adapters/outbound/mongo/mongo-store.js';
import { attributesAsList, type MongoTable } from '#src/adapters/outbound/mongo/mongo-table.js';
import type { Product } from '#src/domain/product.js';
import { repositoryContract } from '../contract/repository.contract.js';
import { mongoUrl } from '../support/mongo-url.js';

const PRODUCTS: MongoTable<Product> = {
  name: 'products',
  unique: ['sku'],
  firstId: 1,
  ...attributesAsList(),
};

repositoryContract('MongoDB', async () => {
  const store = new MongoStore(mongoUrl(`test-${randomUUID()}`), [PRODUCTS]);
  await store.open();
  return {
    products: new MongoRepository(store, PRODUCTS),
    close: async () => {
      await store.run((database) => database.dropDatabase());
      await store.close();
    },
  };
});
