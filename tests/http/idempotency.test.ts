import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { administerKeys } from '#src/composition/admin-tasks.js';
import { loadSettings } from '#src/config/settings.js';
import { SCOPES } from '#src/domain/access.js';
import { HTTP_STORE_NAMES } from '../stores/index.js';
import type { RequestOptions } from '../support/http-client.js';
import { isReplay, MADE, MEBIBYTE, outcome, posting, REPLAYED, REUSED } from '../support/idempotent-posts.js';
import { inProcessService } from '../support/in-process-service.js';

for (const store of HTTP_STORE_NAMES) {
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

    it('creates a rejected product once its sku is free, exactly once for two concurrent requests', async () => {
      const [key, sku] = [randomUUID(), fresh()];
      const other = await post('/products', { name: 'other', sku }, randomUUID());
      for (let i = 0; i < 2; i++) {
        const refused = await post('/products', { name: 'Lamp', sku }, key);
        expect([refused.status, refused.json.code]).to.deep.equal([409, 'duplicate_value']);
        expect(isReplay(refused)).to.equal(false);
      }
      const another = await post('/products', { name: 'Torch', sku: fresh() }, key);
      expect(outcome(another)).to.deep.equal(REUSED);
      await service.client.delete(`/products/${other.json.id}`);
      const before = await count('/products');
      const responses = await Promise.all([1, 2].map(() => post('/products', { name: 'Lamp', sku }, key)));
      expect(responses.map(outcome)).to.have.deep.members([MADE, REPLAYED]);
      expect(new Set(responses.map(({ text }) => text))).to.have.length(1);
      expect(await count('/products')).to.equal(before + 1);
    });

    it('creates a rejected order once its user exists, exactly once for two concurrent requests', async () => {
      const [key, name, namesake] = [randomUUID(), fresh(), fresh()];
      const product = (await post('/products', { name }, randomUUID())).json.id;
      const user = (await post('/users', { name, email: `${name}@example.com` }, randomUUID())).json.id;
      const order = { userId: user + 1, items: [{ productId: product, quantity: 1 }] };
      const refused = await post('/orders', order, key);
      expect([refused.status, refused.json.details[0].code]).to.deep.equal([400, 'reference_not_found']);
      const next = await post('/users', { name, email: `${namesake}@example.com` }, randomUUID());
      expect(next.json.id).to.equal(order.userId);
      const responses = await Promise.all([1, 2].map(() => post('/orders', order, key)));
      expect(responses.map(outcome)).to.have.deep.members([MADE, REPLAYED]);
    });

    it('replays an order even if its user and product are deleted', async () => {
      const [key, name] = [randomUUID(), fresh()];
      const product = (await post('/products', { name }, randomUUID())).json.id;
      const user = (await post('/users', { name, email: `${name}@example.com` }, randomUUID())).json.id;
      const order = { userId: user, items: [{ productId: product, quantity: 1 }] };
      const first = await post('/orders', order, key);
      await service.client.delete(`/users/${user}`);
      await service.client.delete(`/products/${product}`);
      const again = await post('/orders', order, key);
      expect([...outcome(again), again.text]).to.deep.equal([...REPLAYED, first.text]);
      expect((await post('/orders', order, randomUUID())).status).to.equal(400);
    });

    it('does not reserve the sku of a deleted record again when it replays', async () => {
      const [key, name] = [randomUUID(), fresh()];
      const { json } = await post('/products', { name, sku: name }, key);
      await service.client.delete(`/products/${json.id}`);
      expect(outcome(await post('/products', { name, sku: name }, key))).to.deep.equal(REPLAYED);
      expect(outcome(await post('/products', { name, sku: name }, randomUUID()))).to.deep.equal(MADE);
      expect(outcome(await post('/products', { name, sku: name }, key))).to.deep.equal(REPLAYED);
      expect((await service.client.get(`/products?sku=${name}`)).json).to.have.length(1);
    });

    describe('can still be used after', () => {
      const rejected: readonly [status: number, body: string, more: RequestOptions][] = [
        [400, '{"name":', {}],
        [400, '{"name":" "}', {}],
        [400, '{"name":"x","id":1}', {}],
        [400, '{"name":"x","name":"x"}', {}],
        [401, '{"name":"x"}', { token: null }],
        [400, '{"name":"x"}', { headers: { 'API-Version': '9' } }],
        [406, '{"name":"x"}', { headers: { Accept: 'text/html' } }],
        [413, `{"name":"x"}${' '.repeat(MEBIBYTE)}`, {}],
        [415, '{"name":"x"}', { headers: { 'Content-Type': 'text/plain' } }],
        [415, '{"name":"x"}', { headers: { 'Content-Encoding': 'gzip' } }],
      ];
      for (const [status, body, more] of rejected) {
        it(`a request that gets ${status}: ${body.slice(0, 30).trim()} ${JSON.stringify(more)}`, async () => {
          const key = randomUUID();
          const before = await count('/products');
          const refused = await post('/products', body, key, more);
          expect(outcome(refused)).to.deep.equal([status, false]);
          expect(await count('/products')).to.equal(before);
          expect(outcome(await post('/products', { name: 'another' }, key))).to.deep.equal(MADE);
        });
      }

      it('an unknown parameter', async () => {
        const key = randomUUID();
        expect((await post('/products?x=1', { name: 'x' }, key)).status).to.equal(400);
        expect(outcome(await post('/products', { name: 'another' }, key))).to.deep.equal(MADE);
      });
    });
  });
}

describe('an Idempotency-Key of another principal', () => {
  const service = inProcessService({ STORE: 'sqlite' });
  const { post } = posting(service);
  const anotherKey = async () => {
    const settings = loadSettings({ DATA_DIR: service.folder, LOG_LEVEL: 'silent' });
    return (await administerKeys(settings, (keys) => keys.create({ name: 'x', scopes: [...SCOPES] }))).key;
  };

  it('is independent, for the same body and for another', async () => {
    const [key, ...tokens] = [randomUUID(), await anotherKey(), await anotherKey()];
    const ids = new Set([(await post('/products', { name: 'x' }, key)).json.id]);
    const [one, other] = tokens;
    for (const [token = '', name] of [
      [one, 'x'],
      [other, 'y'],
    ]) {
      const created = await post('/products', { name }, key, { token });
      expect(outcome(created)).to.deep.equal(MADE);
      ids.add(created.json.id);
      const again = await post('/products', { name }, key, { token });
      expect([...outcome(again), again.text]).to.deep.equal([...REPLAYED, created.text]);
    }
    expect(ids).to.have.length(3);
    expect(outcome(await post('/products', { name: 'x' }, key))).to.deep.equal(REPLAYED);
    expect(outcome(await post('/products', { name: 'y' }, key))).to.deep.equal(REUSED);
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
