import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { MongoArchive } from '#src/adapters/outbound/mongo/mongo-archive.js';
import { MongoRepository } from '#src/adapters/outbound/mongo/mongo-repository.js';
import { MongoStore } from '#src/adapters/outbound/mongo/mongo-store.js';
import { attributesAsList, type MongoTable, plainFields } from '#src/adapters/outbound/mongo/mongo-table.js';
import type { Product } from '#src/domain/product.js';
import type { User } from '#src/domain/user.js';
import { archiveContract, type OpenArchive } from '../contract/archive.contract.js';
import { by, idsOf, product, query } from '../contract/repository/records.js';
import { codePointOrderContract, repositoryContract } from '../contract/repository.contract.js';
import { isStandIn } from '../support/mongo-stand-in.js';
import { mongoUrl } from '../support/mongo-url.js';
import { ENDLESS, PRODUCTS, USERS } from '../support/tables.js';

const PRODUCT_COLLECTION: MongoTable<Product> = { ...PRODUCTS, ...attributesAsList() };
const USER_COLLECTION: MongoTable<User> = { ...USERS, ...plainFields() };

const open = async (): Promise<OpenArchive> => {
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
};

repositoryContract('MongoDB', open);
archiveContract('MongoDB', open);

if (await isStandIn(mongoUrl('admin'))) {
  describe('order by code point on MongoDB', () => {
    it('is left to a real MongoDB: the server of these tests is a stand-in, which orders by UTF-16 unit', async () => {
      const { products, close } = await open();
      try {
        await products.insert(product(1, { name: '\uffff' }));
        await products.insert(product(2, { name: '😀' }));
        const { records } = await products.list(query({ order: by('name,id') }));
        expect(idsOf(records), 'it orders as MongoDB does by now, and can run the contract').to.deep.equal([
          2, 1,
        ]);
      } finally {
        await close();
      }
    });
  });
} else {
  codePointOrderContract('MongoDB', open);
}
