import { join } from 'node:path';
import { expect } from 'chai';
import { HOUR_MS } from '#src/application/maintenance/retention.js';
import { type Application, compose } from '#src/composition/application.js';
import { loadSettings } from '#src/config/settings.js';
import { Service } from '#src/process/service.js';
import { yieldToEventLoop } from '#src/shared/promises.js';
import { expectIssues, HttpClient } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { jsonLines } from '../support/line-stream.js';
import { documentedResponses } from '../support/openapi/described.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { TestIssuer } from '../support/test-issuer.js';
import { runInProcess } from '../unit/adapters/inbound/cli/run-command.js';

interface Usage {
  readonly since: string;
  readonly requests: number;
  readonly byRoute: readonly object[];
}

describe('the usage of an API key', () => {
  const folder = temporaryFolder();
  const issuer = new TestIssuer();
  let environment: Record<string, string>;
  let replicas: {
    readonly application: Application;
    readonly service: Service;
    readonly client: HttpClient;
  }[];

  before(async () => {
    environment = {
      PORT: '0',
      MANAGEMENT_PORT: '0',
      DATA_DIR: folder,
      SQLITE_FILE: join(folder, 'catalogue.sqlite'),
      LOG_LEVEL: 'silent',
      RATE_LIMIT_REQUESTS: '1000000',
      BOOTSTRAP_API_KEY: FIRST_KEY,
      PUBLIC_URL: 'https://catalogue.example',
      ...(await issuer.start()).settings,
    };
    replicas = [];
    for (let i = 0; i < 2; i++) {
      const application = await compose(loadSettings(environment));
      const service = new Service(application);
      const { port, authorityFile } = await service.start();
      const client = new HttpClient(port, authorityFile, FIRST_KEY);
      client.documented = documentedResponses(environment);
      replicas.push({ application, service, client });
    }
  });
  after(async () => {
    for (const { service, client } of replicas) {
      client.close();
      await service.stop();
    }
    await issuer.stop();
  });

  const client = (replica = 0): HttpClient => replicas[replica]?.client as HttpClient;
  const save = async () => {
    // The observers learn of a request after its client.
    for (let turn = 0; turn < 20; turn++) await yieldToEventLoop();
    for (const { application } of replicas) await application.usageCounter.save();
  };
  const newKey = async (...scopes: string[]) => {
    const { id, key } = (await client().post('/api-keys', { name: 'web shop', scopes })).json;
    return { id, token: key, path: `/v1/api-keys/${id}` };
  };
  const usageAt = async (path: string, replica = 0): Promise<Usage | undefined> =>
    (await client(replica).get(path)).json.usage;

  it('shows the requests by method, route and version, the same on every replica', async () => {
    const { token, path } = await newKey('products:read', 'products:write');
    for (const replica of [0, 1, 1]) await client(replica).get('/v1/products/1', { token });
    await client(1).get('/products/2?fields=id', { token });
    await client(0).post('/products', { name: 'Lamp' }, { token });
    await client(0).get('/v1/users', { token });
    expect(await usageAt(path), 'before it is saved').to.equal(undefined);
    await save();
    const usage = await usageAt(path);
    const route = (method: string, route: string, requests: number) => ({ method, route, version: 1, requests });
    expect(usage?.requests).to.equal(6);
    expect(usage?.byRoute).to.deep.equal([
      route('GET', '/v1/products/{id}', 4),
      route('POST', '/v1/products', 1),
      route('GET', '/v1/users', 1),
    ]);
    const since = Date.parse(usage?.since ?? '');
    expect(since % HOUR_MS).to.equal(0);
    expect((Date.now() - since) / HOUR_MS).to.be.within(24, 25 + 1 / 60);
    expect(await usageAt(path, 1)).to.deep.equal(usage);
  });

  it('counts requests of access tokens for their key, and those for the tokens', async () => {
    const { id, token: secret, path } = await newKey('products:read');
    const form = `grant_type=client_credentials&client_id=${id}&client_secret=${secret}`;
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const { json } = await client().post('/oauth/token', form, { token: null, headers });
    expect((await client(1).get('/products', { token: json.access_token })).status).to.equal(200);
    await save();
    const { byRoute } = (await usageAt(path)) as Usage;
    expect(byRoute).to.deep.equal([
      { method: 'POST', route: '/oauth/token', version: 1, requests: 1 },
      { method: 'GET', route: '/v1/products', version: 1, requests: 1 },
    ]);
  });

  it('counts no request without its credential: other paths, bad tokens, OPTIONS, tokens of other issuers', async () => {
    const { id, token, path } = await newKey('products:read');
    await client().get('/nowhere', { token });
    await client().get('/openapi.json', { token });
    await client().get('/products', { token: `${token.slice(0, -1)}?` });
    await client().request('OPTIONS', '/products', { token });
    const foreign = issuer.token({ client_id: `key:${id}`, sub: `key:${id}`, scope: 'products:read' });
    expect((await client().get('/products', { token: foreign })).status).to.equal(200);
    await save();
    expect(await usageAt(path)).to.equal(undefined);
  });

  it('stays small whatever paths, methods and versions a client sends', async () => {
    const { token, path } = await newKey('products:read');
    for (let i = 1; i <= 3; i++) {
      await client().get(`/v1/products/${i}${i}`, { token });
      await client().get(`/products/${i}?x${i}=1`, { token, headers: { 'API-Version': `${90 + i}` } });
      await client().get(`/v${90 + i}/products`, { token });
      await client().get(`/products/%7Bid%7D${i}`, { token });
    }
    for (const method of ['PROPFIND', 'DELETE']) await client().request(method, '/v1/products/1', { token });
    await save();
    const route = { route: '/v1/products/{id}', version: 1 };
    const byRoute = [
      { method: 'GET', ...route, requests: 6 },
      { method: 'DELETE', ...route, requests: 1 },
    ];
    expect((await usageAt(path))?.byRoute).to.deep.equal(byRoute);
  });

  it('changes the ETag of the key, but not its version for If-Match', async () => {
    const { token, path } = await newKey('products:read');
    const unused = (await client().get(path)).headers.etag ?? '';
    await client().get('/products', { token });
    await save();
    let item = await client().get(path);
    while (!item.json.lastUsedAt) item = await client().get(path);
    const first = item.headers.etag ?? '';
    expect(first).to.match(/^"1@\d+\.[\w-]+"$/);
    expect((await client(1).get(path, { headers: { 'If-None-Match': first } })).status).to.equal(304);
    await client().get('/products', { token });
    await save();
    const second = await client().get(path, { headers: { 'If-None-Match': first } });
    expect([second.status, second.json.usage.requests]).to.deep.equal([200, 2]);
    const other = await client().delete(path, { headers: { 'If-Match': '"2"' } });
    expect([other.status, other.headers.etag]).to.deep.equal([412, second.headers.etag]);
    expect(unused).to.equal('"1"');
    expect((await client().delete(path, { headers: { 'If-Match': first } })).status).to.equal(204);
    await save();
    expect((await client().get(path)).status).to.equal(404);
  });

  it('can be chosen by fields on a key, and not on the list', async () => {
    const { id, token, path } = await newKey('products:read');
    await client().get('/products', { token });
    await save();
    const usage = await usageAt(path);
    const chosen = await client().get(`${path}?fields=usage,id`);
    expect(chosen.json).to.deep.equal({ id, usage });
    expect(chosen.headers.etag).to.match(/:id,usage"$/);
    const [listed] = (await client().get(`/v1/api-keys?id=${id}`)).json;
    expect(listed).to.not.have.property('usage');
    await expectIssues(client().get('/v1/api-keys?fields=id,usage'), 'invalid_parameter', ['unknown_field fields']);
  });

  it('is shown by the command line for every key', async () => {
    const { id, token, path } = await newKey('products:read');
    await client(1).get('/products', { token });
    await save();
    const { out } = await runInProcess(['keys', 'list'], environment);
    const lines = jsonLines(out);
    expect(lines.find((key) => key.id === id)).to.deep.equal((await client().get(path)).json);
  });

  it('answers for a route while the store refuses to save it', async () => {
    const { token, path } = await newKey('products:read');
    const [{ application }] = replicas as [(typeof replicas)[0]];
    const { usage } = application.storage;
    const { save: original } = usage;
    usage.save = () => Promise.reject(new Error('the disk is full'));
    expect((await client().get('/products', { token })).status).to.equal(200);
    const outcome = application.usageCounter.save().then(() => 'it was saved');
    expect(await outcome.catch((error: Error) => error.message)).to.equal('the disk is full');
    usage.save = original;
    await save();
    expect((await usageAt(path))?.requests).to.equal(1);
  });
});
