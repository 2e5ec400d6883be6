import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { ChildProcessService, catalogue } from '../support/child-process-service.js';
import { mongoUrl } from '../support/mongo-url.js';
import { RedisServer } from '../support/redis-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('catalogue check, with servers', () => {
  const root = temporaryFolder();
  const folder = () => mkdtempSync(join(root, 'run-'));
  const database = `check-${randomUUID()}`;
  const settings = { STORE: 'mongodb', MONGODB_URL: '' };

  before(() => (settings.MONGODB_URL = mongoUrl(database)));
  after(async () => {
    const client = new MongoClient(settings.MONGODB_URL);
    await client.db().dropDatabase();
    await client.close();
  });

  it('examines MongoDB and its clock, and creates no collection', async () => {
    const where = folder();
    const { code, out } = await catalogue(where, ['check'], settings);
    expect(code, out).to.equal(0);
    expect(out)
      .to.match(/^ok +store +MongoDB [\d.]+ responds at /m)
      .and.to.match(/^ok +clock +it differs from MongoDB's clock by \d\.\d s$/m);
    const client = new MongoClient(settings.MONGODB_URL);
    expect(await client.db(database).listCollections().toArray()).to.deep.equal([]);
    await client.close();
    expect(readdirSync(where)).to.deep.equal([]);
  });

  it('finds missing indexes, and indexes in the place of ours', async () => {
    const service = new ChildProcessService(folder(), settings);
    await service.listening();
    await service.prints(/listens/);
    await service.stop();
    const client = new MongoClient(settings.MONGODB_URL);
    const products = client.db(database).collection('products');
    const clean = await catalogue(folder(), ['check'], settings);
    expect(clean.out).to.match(/^ok +indexes /m);
    await products.dropIndex('live_name');
    const missing = await catalogue(folder(), ['check'], settings);
    expect([missing.code, missing.out]).to.satisfy(
      ([code, out]: [number, string]) =>
        code === 0 && /^warning +indexes +these indexes are missing: products\.live_name$/m.test(out),
      missing.out,
    );
    await products.createIndex({ 'fields.name': 1 }, { unique: true, name: 'theirs' });
    const harmful = await catalogue(folder(), ['check'], settings);
    expect(harmful.code, harmful.out).to.equal(1);
    expect(harmful.out).to.match(/^wrong +indexes +products has an index, theirs, that is unique/m);
    await client.close();
  });

  it('names webhooks that this release cannot use', async () => {
    const client = new MongoClient(settings.MONGODB_URL);
    const webhooks = client.db(database).collection<{ _id: number }>('webhooks');
    await webhooks.insertOne({ _id: 7, live: true, version: 1, fields: { resources: ['baskets'] } } as never);
    const { code, out } = await catalogue(folder(), ['check'], settings);
    await webhooks.deleteOne({ _id: 7 });
    await client.close();
    expect(code, out).to.equal(1);
    expect(out).to.match(
      /^wrong +webhooks +record 7 is stored with values that this release does not know: url, resources,/m,
    );
  });

  it('says that a server does not respond, without its password', async () => {
    const MONGODB_URL = 'mongodb://me:hunter2@127.0.0.1:1/x?serverSelectionTimeoutMS=500';
    const redis = { RATE_LIMITER: 'redis', REDIS_URL: 'redis://:hunter2@127.0.0.1:1' };
    const { code, out, err } = await catalogue(folder(), ['check'], { STORE: 'mongodb', MONGODB_URL, ...redis });
    expect([code, err]).to.deep.equal([1, '']);
    expect(out).to.match(/^wrong +store +MongoDB does not respond/m);
    expect(out).to.match(/^wrong +Redis +it does not respond \(/m);
    expect(out).to.not.include('hunter2');
  });

  it('examines Redis and its clock', async () => {
    const redis = await RedisServer.onFreePort();
    await redis.run();
    try {
      const { code, out } = await catalogue(folder(), ['check'], { RATE_LIMITER: 'redis', REDIS_URL: redis.url });
      expect(code, out).to.equal(0);
      expect(out)
        .to.match(/^(ok|warning) +Redis +it responds in \d+ ms$/m)
        .and.to.match(/^ok +clock +it differs from Redis's clock by \d\.\d s$/m);
    } finally {
      await redis.kill();
    }
  });
});
