import { randomUUID } from 'node:crypto';
import { MongoArchive } from '#src/adapters/outbound/mongo/mongo-archive.js';
import { MongoRepository } from '#src/adapters/outbound/mongo/mongo-repository.js';
import { MongoStore } from '#src/adapters/outbound/mongo/mongo-store.js';
import { attributesAsList, type MongoTable } from '#src/adapters/outbound/mongo/mongo-table.js';
import type { Product } from '#src/domain/product.js';
import { archiveContract, type OpenArchive } from '../contract/archive.contract.js';
import { repositoryContract } from '../contract/repository.contract.js';
import { mongoUrl } from '../support/mongo-url.js';

const PRODUCTS: MongoTable<Product> = {
  name: 'products',
  unique: ['sku'],
  firstId: 1,
  ...attributesAsList(),
};

const open = async (): Promise<OpenArchive> => {
  const store = new MongoStore(mongoUrl(`test-${randomUUID()}`), [PRODUCTS]);
  await store.open();
  return {
    products: new MongoRepository(store, PRODUCTS),
    archive: new MongoArchive(store, PRODUCTS),
    close: async () => {
      await store.run((database) => database.dropDatabase());
      await store.close();
    },
  };
};

repositoryContract('MongoDB', open);
archiveContract('MongoDB', open);
