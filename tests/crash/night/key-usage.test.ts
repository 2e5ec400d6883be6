import { expect } from 'chai';
import { ChildProcessService, catalogue } from '../../support/child-process-service.js';
import type { HttpClient } from '../../support/http-client.js';
import { FIRST_KEY } from '../../support/in-process-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';
import { logged } from '../../support/workers.js';

const READS = 'GET /v1/products';

describe('the usage of an API key in several processes on one SQLite file', () => {
  const folder = temporaryFolder();
  const services: ChildProcessService[] = [];
  const clients: HttpClient[] = [];
  let token: string;
  let path: string;

  const start = async (environment: Record<string, string> = {}) => {
    const service = new ChildProcessService(folder, { BOOTSTRAP_API_KEY: FIRST_KEY, ...environment });
    services.push(service);
    const client = await service.started(FIRST_KEY);
    clients.push(client);
    return { service, client };
  };
  const reads = async (client: HttpClient, count: number) => {
    const responses = await Promise.all(
      Array.from({ length: count }, () => client.get('/products?limit=1', { token })),
    );
    expect(new Set(responses.map(({ status }) => status))).to.deep.equal(new Set([200]));
  };
  /** Returns the number of reads that the service shows. */
  const shown = async (client: HttpClient): Promise<number> => {
    const { byRoute = [] } = (await client.get(path)).json.usage ?? {};
    const found = byRoute.find(({ method, route }: Readonly<Record<string, string>>) => `${method} ${route}` === READS);
    return found?.requests ?? 0;
  };
  const untilShown = (client: HttpClient, count: number) =>
    until(`${count} reads are shown`, async () => (await shown(client)) >= count);

  before(async () => {
    const { client } = await start({ WORKERS: '2' });
    const { id, key } = (await client.post('/api-keys', { name: 'x', scopes: ['products:read'] })).json;
    token = key;
    path = `/v1/api-keys/${id}`;
  });
  after(async () => {
    for (const client of clients) client.close();
    for (const service of services) await service.stop('SIGKILL');
  });

  it('is the sum of all workers of all services, and all of them show it', async () => {
    const [workers] = services as [ChildProcessService];
    const other = await start();
    const several = await Promise.all(Array.from({ length: 4 }, () => workers.started(FIRST_KEY)));
    clients.push(...several);
    for (const client of several) await reads(client, 50);
    await reads(other.client, 100);
    // A process buffers its log for a moment.
    await until('both workers have served', () => new Set(logged(workers, 'request').map(({ pid }) => pid)).size === 2);
    for (const client of [...several, other.client]) await untilShown(client, 300);
    for (const client of [...several, other.client]) expect(await shown(client)).to.equal(300);
  });

  it('is complete after SIGTERM', async () => {
    const { service, client } = await start();
    await reads(client, 30);
    client.close();
    expect(await service.stop()).to.deep.equal({ code: 0, signal: null });
    const { out } = await catalogue(folder, ['keys', 'list']);
    const key = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .find(({ id }) => path.endsWith(`/${id}`));
    expect(key.usage.requests).to.equal(330);
  });

  it('lacks after kill -9 at most the requests since the last save', async () => {
    const [{ client: other }, { service, client }] = [await start(), await start()];
    const before = await shown(other);
    await reads(client, 40);
    await untilShown(other, before + 40);
    await reads(client, 7);
    client.close();
    service.kill('SIGKILL');
    await service.exit;
    await reads(other, 5);
    await untilShown(other, before + 45);
    expect(await shown(other)).to.be.within(before + 45, before + 52);
  });
});
