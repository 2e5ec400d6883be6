import { expect } from 'chai';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { ChildProcessService } from '../support/child-process-service.js';
import type { HttpClient } from '../support/http-client.js';
import { RedisServer } from '../support/redis-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('two processes of the service that share a Redis', () => {
  const folder = temporaryFolder();
  const services: ChildProcessService[] = [];
  const clients: HttpClient[] = [];
  let server: RedisServer;

  before(async () => {
    server = await RedisServer.onFreePort();
    await server.run();
    const environment = { RATE_LIMITER: 'redis', REDIS_URL: server.url, RATE_LIMIT_REQUESTS: '25' };
    for (let i = 0; i < 2; i++) {
      const service = new ChildProcessService(folder, environment);
      services.push(service);
      clients.push(await service.started(services[0]?.firstKey || undefined));
    }
  });
  after(async () => {
    for (const client of clients) client.close();
    for (const service of services) await service.stop('SIGKILL');
    await server.kill();
  });

  const statuses = async (each: number, token?: () => string) => {
    const responses = clients.flatMap((client) =>
      Array.from({ length: each }, () => client.get('/products', token ? { token: token() } : {})),
    );
    return (await Promise.all(responses)).map(({ status }) => status);
  };
  const count = (all: readonly number[], status: number) => all.filter((one) => one === status).length;

  it('share one quota', async () => {
    const all = await statuses(20);
    expect([count(all, 200), count(all, 429)]).to.deep.equal([25, 15]);
  });

  it('share one quota of failed authentications', async () => {
    const all = await statuses(30, () => newApiKey());
    expect([count(all, 401), count(all, 429)]).to.deep.equal([20, 40]);
  });

  it('stay ready without Redis, admit one quota each, and log this once', async () => {
    await server.kill();
    const all = await statuses(30);
    expect([count(all, 200), count(all, 429)]).to.deep.equal([50, 10]);
    for (const client of clients) expect((await client.get('/health/ready', { token: null })).status).to.equal(200);
    for (const service of services) {
      await service.logs(/no longer shared/);
      expect(service.log.match(/no longer shared/g)).to.have.length(1);
    }
  });

  it('start and stop normally without Redis', async () => {
    const [first] = services;
    const late = new ChildProcessService(folder, { RATE_LIMITER: 'redis', REDIS_URL: server.url });
    services.push(late);
    const client = await late.started(first?.firstKey);
    expect((await client.get('/products')).status).to.equal(200);
    client.close();
    for (const service of services.splice(0)) expect(await service.stop()).to.deep.equal({ code: 0, signal: null });
  });
});
