import { expect } from 'chai';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/records/repository.js';
import type { Product } from '#src/domain/product.js';
import { expectRefusal } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { list } from '../support/list.js';
import { ENDLESS, PRODUCTS } from '../support/tables.js';

/** Enough records that a search without an index exceeds the timeout many times over. */
const COUNT = 20_000;

describe('a query without a suitable index', () => {
  const service = inProcessService({ STORE: 'sqlite', QUERY_TIMEOUT_MS: '1' });

  before(async () => {
    const database = new SqliteDatabase(`${service.folder}/catalogue.sqlite`);
    await database.open();
    const products = new SqliteRepository<Product>(database, PRODUCTS, ENDLESS);
    const description = 'x'.repeat(500);
    const records = Array.from({ length: COUNT }, (_, i) => ({
      id: i + 1,
      version: 1,
      createdAt: 1,
      updatedAt: 1,
      fields: { name: `name ${i}`, sku: `SKU-${i}`, description },
    }));
    for (let at = 0; at < COUNT; at += 1_000) await products.insertAll(records.slice(at, at + 1_000));
    await database.close();
  });

  for (const [title, path, headers] of [
    ['a list', '/v1/products?images.exists=true', {}],
    ['an export', '/v1/products?images.exists=true', { Accept: 'application/x-ndjson' }],
    ['a count', '/v1/products?limit=1&images.exists=true', { Prefer: 'count=exact' }],
  ] as const)
    it(`is rejected after the timeout: ${title}`, async () => {
      const response = await expectRefusal(service.get(path, { headers }), 'query_too_expensive');
      expect(response.headers['cache-control']).to.equal('no-store');
      expect(response.headers).to.not.have.any.keys('link', 'etag', 'x-total-count');
    });

  it('does not affect queries that use an index', async () => {
    for (const path of list`?limit=1000  ?sort=-name&limit=1000  ?sku=SKU-7  ?name.prefix=name%2019&sort=name  /7`)
      expect((await service.get(`/v1/products${path}`)).status, path).to.equal(200);
  });
});
