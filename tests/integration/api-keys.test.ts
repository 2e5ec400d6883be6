import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { ChildProcessService } from '../support/child-process-service.js';
import { figuresOf } from '../support/figure.js';
import type { HttpClient } from '../support/http-client.js';
import { mongoUrl } from '../support/mongo-url.js';
import { accessToken } from '../support/oauth.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const figure = figuresOf('api-keys');

const READER = { name: 'reader', scopes: ['products:read'] };

describe('API keys of two replicas on one MongoDB', () => {
  const root = temporaryFolder();
  const database = `api-keys-${randomUUID()}`;
  let services: ChildProcessService[];
  let clients: HttpClient[];

  before(async () => {
    services = [1, 2].map(
      () =>
        new ChildProcessService(mkdtempSync(join(root, 'run-')), {
          STORE: 'mongodb',
          MONGODB_URL: mongoUrl(database),
        }),
    );
    await Promise.all(services.map((service) => service.prints(/listens on[\s\S]*curl/)));
    const key = services.map(({ firstKey }) => firstKey).find(Boolean);
    clients = await Promise.all(services.map((service) => service.started(key)));
  });
  after(async () => {
    for (const client of clients) client.close();
    for (const service of services) await service.stop('SIGKILL');
    const client = new MongoClient(mongoUrl(database));
    await client.db().dropDatabase();
    await client.close();
  });

  const replicas = (): [HttpClient, HttpClient] => clients as [HttpClient, HttpClient];
  const reads = async (client: HttpClient, token: string) => (await client.get('/products?limit=1', { token })).status;

  it('are valid immediately in the other replica', async () => {
    for (let i = 0; i < 20; i++) {
      const [maker, other] = i % 2 === 0 ? replicas() : replicas().toReversed();
      const { id, key } = (await maker?.post('/api-keys', READER))?.json ?? {};
      expect(other && (await reads(other, key))).to.equal(200);
      expect((await other?.get(`/api-keys/${id}`))?.json).to.deep.include({ id, ...READER });
    }
  });

  it('are refused with their tokens, immediately by the replica that revokes them and soon by the other', async () => {
    const [here, there] = replicas();
    const { id, key } = (await here.post('/api-keys', READER)).json;
    const token = await accessToken(here, id, key);
    for (const client of replicas()) for (const one of [key, token]) expect(await reads(client, one)).to.equal(200);
    expect((await here.delete(`/api-keys/${id}`)).status).to.equal(204);
    const revokedAt = performance.now();
    for (const one of [key, token]) {
      expect(await reads(here, one)).to.equal(401);
      await until('the other replica refuses it', async () => (await reads(there, one)) === 401);
      figure('until the other replica refuses a revoked key', Math.round(performance.now() - revokedAt), 'ms');
    }
  });

  it('make no other key once a replica has revoked them, not even by their tokens', async () => {
    const [here, there] = replicas();
    const scopes = ['keys:admin', 'products:read'];
    const { id, key } = (await here.post('/api-keys', { name: 'admin', scopes })).json;
    const credentials = [key, await accessToken(here, id, key)];
    const makes = async (token: string) => (await there.post('/api-keys', READER, { token })).status;
    for (const token of credentials) expect(await makes(token)).to.equal(201);
    expect((await here.delete(`/api-keys/${id}`)).status).to.equal(204);
    for (const token of credentials) expect(await makes(token)).to.equal(401);
    expect((await there.get(`/api-keys?createdBy=${id}`)).json).to.have.length(2);
  });

  it('are stored only as digests, in records and in reservations', async () => {
    const options = { headers: { 'Idempotency-Key': randomUUID() } };
    const { key } = (await replicas()[0].post('/api-keys', READER, options)).json;
    const client = new MongoClient(mongoUrl(database));
    const collections = await client.db().collections();
    const all = await Promise.all(collections.map((collection) => collection.find().toArray()));
    await client.close();
    expect(all.flat()).to.not.deep.equal([]);
    expect(JSON.stringify(all)).to.not.include(key).and.not.match(/pcs_/);
  });
});
