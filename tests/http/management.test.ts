import { expect } from 'chai';
import { healthRoutes } from '#src/adapters/inbound/http/pages/pages.js';
import { createManagementApp } from '#src/adapters/inbound/http/pipeline/app.js';
import { createPlainServer } from '#src/adapters/inbound/http/server/server.js';
import { memoryStorage } from '#src/adapters/outbound/memory/storage.js';
import { unavailable } from '#src/domain/errors.js';
import { listen } from '#src/process/listen.js';
import { RecordingLogger } from '../support/fakes.js';
import { expectRefusal, HttpClient } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { ENDLESS } from '../support/tables.js';

const PROBES = ['/health/live', '/health/ready'];

/** Expects the answer to a probe, by GET and HEAD. @returns the headers */
async function expectAlive(client: HttpClient, path: string) {
  const { status, json, headers } = await client.get(path, { token: null });
  expect([status, json]).to.deep.equal([200, { status: 'ok' }]);
  expect(headers['cache-control']).to.equal('no-store');
  expect((await client.request('HEAD', path, { token: null })).status).to.equal(200);
  return headers;
}

describe('health on the main port', () => {
  const service = inProcessService();

  it('is told to GET and HEAD without a token, and to no other method', async () => {
    for (const path of PROBES) {
      expect((await expectAlive(service.client, path))['x-request-id']).to.be.a('string');
      const posted = service.post(path, undefined, { token: null });
      const { headers } = await expectRefusal(posted, 'method_not_allowed', path);
      expect(headers.allow).to.equal('GET, HEAD, OPTIONS');
    }
  });
});

describe('the management port', () => {
  const service = inProcessService({ RATE_LIMIT_REQUESTS: '3' });
  const state: { client?: HttpClient } = {};
  const client = () => state.client as HttpClient;
  before(() => (state.client = new HttpClient(service.managementPort, undefined, '')));
  after(() => client().close());

  it('responds to probes over plain HTTP without a token or a rate limit', async () => {
    for (let i = 0; i < 5; i++)
      for (const path of PROBES) {
        const headers = await expectAlive(client(), path);
        expect(headers).to.not.have.any.keys('ratelimit', 'strict-transport-security');
      }
  });

  it('has metrics, which the main port does not have', async () => {
    expect((await client().get('/metrics', { token: null })).status).to.equal(200);
    expect((await service.get('/metrics')).json.code).to.equal('not_found');
  });

  it('has nothing else', async () => {
    for (const path of ['/', '/products', '/v1/products', '/metrics/', '/health', '/health/other'])
      await expectRefusal(client().get(path), 'not_found', path);
    for (const path of ['/health/live', '/metrics']) {
      const response = await expectRefusal(client().post(path, {}), 'method_not_allowed', path);
      expect(response.headers.allow).to.match(/^GET, HEAD/);
    }
  });
});

describe('the management application', () => {
  const logger = new RecordingLogger();
  const { store } = memoryStorage({ budget: ENDLESS });
  const state = { text: async () => 'up 1\n', unreadiness: undefined as string | undefined };
  const listener = createManagementApp({
    routes: healthRoutes(store, () => state.unreadiness),
    metrics: { contentType: 'text/plain; version=0.0.4; charset=utf-8', text: () => state.text() },
    logger,
    isDraining: () => false,
  });
  const server = createPlainServer(listener);
  let client: HttpClient;
  before(async () => {
    client = new HttpClient(await listen(server, '127.0.0.1', 0), undefined, '');
  });
  after(() => {
    client.close();
    server.close();
  });

  it('returns the metrics in one format, whatever Accept says', async () => {
    for (const Accept of ['*/*', 'text/plain', 'application/openmetrics-text;version=1.0.0', 'image/png']) {
      const response = await client.get('/metrics', { headers: { Accept } });
      expect([response.status, response.text]).to.deep.equal([200, 'up 1\n']);
      expect(response.headers['content-type']).to.equal('text/plain; version=0.0.4; charset=utf-8');
    }
    expect((await client.request('HEAD', '/metrics')).headers['content-type']).to.match(/^text\/plain/);
  });

  it('returns 500 if the metrics fail, with the reason only in the log', async () => {
    state.text = async () => {
      throw new Error('a secret of the driver');
    };
    const response = await expectRefusal(client.get('/metrics'), 'internal_error');
    expect(response.text).to.not.include('secret');
    expect(logger.events).to.include('internal_error');
  });

  it('is alive but not ready while the store is unavailable or the service drains', async () => {
    store.ping = async () => {
      throw unavailable('The store is away.');
    };
    expect((await client.get('/health/ready')).status).to.equal(503);
    expect((await client.get('/health/live')).status).to.equal(200);
    store.ping = async () => {};
    expect((await client.get('/health/ready')).status).to.equal(200);
    state.unreadiness = 'The service is stopping.';
    expect((await client.get('/health/ready')).status).to.equal(503);
    expect((await client.get('/health/live')).status).to.equal(200);
    state.unreadiness = undefined;
  });

  it('asks the store once for probes that arrive together, and again for later ones', async () => {
    let calls = 0;
    let respond = () => {};
    const response = new Promise<void>((resolve) => (respond = resolve));
    store.ping = () => {
      calls++;
      return response;
    };
    const together = Array.from({ length: 20 }, () => client.get('/health/ready'));
    // Liveness uses no store, so its response shows that the others have arrived.
    await Promise.all(Array.from({ length: 20 }, () => client.get('/health/live')));
    expect(calls).to.equal(1);
    respond();
    for (const { status } of await Promise.all(together)) expect(status).to.equal(200);
    store.ping = async () => {
      calls++;
    };
    expect((await client.get('/health/ready')).status).to.equal(200);
    expect(calls).to.equal(2);
  });
});
