import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { HTTP_STORE_NAMES } from '../stores/index.js';
import type { RequestOptions } from '../support/http-client.js';
import { isReplay, MADE, MEBIBYTE, outcome, posting, REPLAYED } from '../support/idempotent-posts.js';
import { inProcessService } from '../support/in-process-service.js';

// record-creation-races.test.ts has requests that are refused, retried or concurrent.
for (const store of HTTP_STORE_NAMES)
  describe(`an Idempotency-Key, on ${store}`, () => {
    const service = inProcessService({ STORE: store });
    const { post, fresh, count } = posting(service);

    it('is independent of the same key in another collection', async () => {
      const [key, name] = [randomUUID(), fresh()];
      const email = `${name}@example.com`;
      expect(outcome(await post('/products', { name }, key))).to.deep.equal(MADE);
      expect(outcome(await post('/users', { name, email }, key))).to.deep.equal(MADE);
      expect(outcome(await post('/v1/products', { name }, key))).to.deep.equal(REPLAYED);
      expect(outcome(await post('/v1/users', { name, email }, key))).to.deep.equal(REPLAYED);
    });

    it('does not reserve the sku of a deleted record again when it replays', async () => {
      const [key, name] = [randomUUID(), fresh()];
      const { json } = await post('/products', { name, sku: name }, key);
      await service.delete(`/products/${json.id}`);
      expect(outcome(await post('/products', { name, sku: name }, key))).to.deep.equal(REPLAYED);
      expect(outcome(await post('/products', { name, sku: name }, randomUUID()))).to.deep.equal(MADE);
      expect(outcome(await post('/products', { name, sku: name }, key))).to.deep.equal(REPLAYED);
      expect((await service.get(`/products?sku=${name}`)).json).to.have.length(1);
    });

    it('can still be used after a request that is rejected', async () => {
      const rejected: readonly [status: number, body: string, more?: RequestOptions & { query?: string }][] = [
        [400, '{"name":'],
        [400, '{"name":" "}'],
        [400, '{"name":"x","id":1}'],
        [400, '{"name":"x","name":"x"}'],
        [400, '{"name":"x"}', { query: '?x=1' }],
        [401, '{"name":"x"}', { token: null }],
        [400, '{"name":"x"}', { headers: { 'API-Version': '9' } }],
        [406, '{"name":"x"}', { headers: { Accept: 'text/html' } }],
        [413, `{"name":"x"}${' '.repeat(MEBIBYTE)}`],
        [415, '{"name":"x"}', { headers: { 'Content-Type': 'text/plain' } }],
        [415, '{"name":"x"}', { headers: { 'Content-Encoding': 'gzip' } }],
      ];
      for (const [status, body, { query = '', ...more } = {}] of rejected) {
        const key = randomUUID();
        const before = await count('/products');
        const refused = await post(`/products${query}`, body, key, more);
        expect(outcome(refused), body.slice(0, 30)).to.deep.equal([status, false]);
        expect(await count('/products')).to.equal(before);
        expect(outcome(await post('/products', { name: 'another' }, key))).to.deep.equal(MADE);
      }
    });
  });

describe('an Idempotency-Key and the rate limit', () => {
  const service = inProcessService({ RATE_LIMIT_REQUESTS: '1', RATE_LIMIT_WINDOW_SECONDS: '3600' });
  const { post } = posting(service);

  it('can still be used after a 429', async () => {
    await post('/products', { name: 'the only one of this hour' }, randomUUID());
    const key = randomUUID();
    const refused = await post('/products', { name: 'x' }, key);
    expect([refused.status, isReplay(refused)]).to.deep.equal([429, false]);
    service.clock.pass(3_600_000);
    expect(outcome(await post('/products', { name: 'another' }, key))).to.deep.equal(MADE);
  });
});
