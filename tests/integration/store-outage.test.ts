import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ChildProcessService } from '../support/child-process-service.js';
import { HttpClient } from '../support/http-client.js';
import { mongoUrl, serverOf, throughProxy } from '../support/mongo-url.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

describe('an unreachable store', () => {
  const root = temporaryFolder();
  const folder = () => mkdtempSync(join(root, 'run-'));
  let proxy: TcpProxy;
  let url: string;
  let service: ChildProcessService;

  beforeEach(async () => {
    proxy = new TcpProxy(serverOf(mongoUrl('x')));
    url = throughProxy(mongoUrl(`outage-${randomUUID()}`), await proxy.listen());
  });
  afterEach(async () => {
    await service.stop('SIGKILL');
    await proxy.close();
  });

  const start = (environment: Record<string, string> = {}) => {
    service = new ChildProcessService(folder(), { STORE: 'mongodb', MONGODB_URL: url, ...environment });
    return service;
  };
  const health = async (client: HttpClient, name: string) =>
    (await client.get(`/health/${name}`, { token: null })).status;

  it('at the start delays the start, and the first key is printed once it is reachable', async () => {
    await proxy.set('cut');
    start();
    await service.logs(/the store cannot be reached yet/);
    const [, port] = await service.logs(/"port":(\d+)[^\n]*"msg":"listening"/);
    const early = new HttpClient(Number(port), `${service.folder}/data/tls/ca.pem`, 'x');
    expect([await health(early, 'live'), await health(early, 'ready')]).to.deep.equal([200, 503]);
    expect(service.out).to.equal('');
    early.close();
    await proxy.set('none');
    const client = await service.started();
    expect((await client.get('/products')).status).to.equal(200);
    client.close();
  });

  it('at the start ends the service with exit code 75 after a time', async () => {
    await proxy.set('cut');
    start({ STORE_START_TIMEOUT_SECONDS: '2' });
    expect((await service.exit).code).to.equal(75);
    expect(service.out).to.match(/^The service ends: The store could not be reached in time/);
    expect(service.out).to.not.include('pcs_');
  });

  for (const fault of ['cut', 'hang'] as const) {
    it(`later (${fault}) leads to 503 within 2 seconds, and the service recovers within 5`, async () => {
      const client = await start().started();
      const { id } = (await client.post('/products', { name: 'Lamp' })).json;
      await proxy.set(fault);
      const requests = Array.from({ length: 30 }, (_, i) => async () => {
        const started = performance.now();
        const response = await (i % 3 === 0
          ? client.get(`/products/${id}`)
          : i % 3 === 1
            ? client.get('/products')
            : client.post('/products', { name: 'x' }));
        return { response, ms: performance.now() - started };
      });
      // The limit is one second above the promise, for a machine under load.
      for (const { response, ms } of await Promise.all(requests.map((request) => request()))) {
        expect([response.status, response.json.code]).to.deep.equal([503, 'unavailable']);
        expect(Number(response.headers['retry-after'])).to.be.within(1, 60);
        expect(response.text).to.not.match(/mongo|topology|127\.0\.0\.1|socket/i);
        expect(ms).to.be.lessThan(3_000);
      }
      expect([await health(client, 'live'), await health(client, 'ready')]).to.deep.equal([200, 503]);
      await proxy.set('none');
      const restoredAt = performance.now();
      await until('a product again', async () => (await client.get(`/products/${id}`)).status === 200, 6_000);
      const recoveryMs = performance.now() - restoredAt;
      await until('ready again', async () => (await health(client, 'ready')) === 200, 6_000);
      expect((await client.post('/products', { name: 'y' })).status).to.equal(201);
      process.stdout.write(`        recovered after ${Math.round(recoveryMs)} ms\n`);
      client.close();
    });
  }

  it('during writes leads to 503 and never to 500, and the service recovers', async () => {
    const client = await start().started();
    // The driver writes commands over 16 KiB in several parts.
    const attributes = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [at, 'é'.repeat(500)]));
    const statuses = new Map<number, number>();
    let isOver = false;
    const write = async (writer: number) => {
      while (!isOver) {
        const { status } = await client.post('/products', { name: `of ${writer}`, attributes });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    const writers = Array.from({ length: 16 }, (_, writer) => write(writer));
    for (let cut = 0; cut < 20; cut++) {
      const made = statuses.get(201) ?? 0;
      await until('writes succeed again', () => (statuses.get(201) ?? 0) > made + 20);
      await proxy.set('cut');
      await proxy.set('none');
    }
    isOver = true;
    await Promise.all(writers);
    expect([...statuses.keys()].sort()).to.deep.equal([201, 503]);
    client.close();
  });

  it('that is only slow delays responses', async () => {
    const client = await start().started();
    proxy.delayMs = 150;
    expect((await client.post('/products', { name: 'Lamp' })).status).to.equal(201);
    expect((await client.get('/products')).status).to.equal(200);
    client.close();
  });
});
