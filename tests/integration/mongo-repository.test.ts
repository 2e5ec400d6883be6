import { expect } from 'chai';
import { archiveContract } from '../contract/archive.contract.js';
import { idempotencyStoreContract } from '../contract/idempotency-store.contract.js';
import { by, idsOf, product, query } from '../contract/repository/records.js';
import { codePointOrderContract, repositoryContract } from '../contract/repository.contract.js';
import { isStandIn } from '../support/mongo-stand-in.js';
import { mongoUrl } from '../support/mongo-url.js';
import { openMongo } from '../support/open-mongo.js';

repositoryContract('MongoDB', openMongo);
idempotencyStoreContract('MongoDB', openMongo);
archiveContract('MongoDB', openMongo);

if (await isStandIn(mongoUrl('admin'))) {
  describe('order by code point on MongoDB', () => {
    it('is left to a real MongoDB: this server is a stand-in, which orders by UTF-16 unit', async () => {
      const { products, close } = await openMongo();
      try {
        await products.insert(product(1, { name: '\uffff' }));
        await products.insert(product(2, { name: '😀' }));
        const { records } = await products.list(query({ order: by('name,id') }));
        expect(idsOf(records), 'it orders as MongoDB by now, and can run the contract').to.deep.equal([2, 1]);
      } finally {
        await close();
      }
    });
  });
} else {
  codePointOrderContract('MongoDB', openMongo);
}
