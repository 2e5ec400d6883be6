import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { REPLICATED_STORES } from '../stores/index.js';
import type { CreatedStore } from '../stores/provider.js';
import { ChildProcessService, catalogue } from '../support/child-process-service.js';
import type { HttpClient } from '../support/http-client.js';
import { linksOf } from '../support/links.js';
import { RedisServer } from '../support/redis-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

async function listed(client: HttpClient): Promise<number[]> {
  const ids: number[] = [];
  for (let path = '/products?limit=1000'; path !== ''; ) {
    const page = await client.get(path);
    ids.push(...page.json.map(({ id }: { id: number }) => id));
    path = linksOf(page.headers['link'])['next'] ?? '';
  }
  return ids;
}

for (const provider of REPLICATED_STORES)
  describe(`two replicas on one ${provider.name} and one Redis`, () => {
    const root = temporaryFolder();
    let store: CreatedStore;
    let redis: RedisServer;
    let services: [ChildProcessService, ChildProcessService];
    let clients: [HttpClient, HttpClient];
    let key: string;

    const start = () =>
      new ChildProcessService(mkdtempSync(join(root, 'run-')), {
        ...store.settings,
        RATE_LIMITER: 'redis',
        REDIS_URL: redis.url,
        RATE_LIMIT_REQUESTS: '100000',
        RATE_LIMIT_WINDOW_SECONDS: '600',
      });

    before(async () => {
      store = await provider.create(root);
      redis = await RedisServer.onFreePort();
      await redis.run();
      services = [start(), start()];
      await Promise.all(services.map((service) => service.prints(/listens on[\s\S]*curl/)));
      const keys = services.map(({ firstKey }) => firstKey).filter(Boolean);
      expect(keys, 'exactly one prints the first key').to.have.length(1);
      key = keys[0] ?? '';
      clients = [await services[0].started(key), await services[1].started(key)];
    });
    after(async () => {
      for (const client of clients) client.close();
      for (const service of services) await service.stop('SIGKILL');
      await redis.kill();
      await store.remove();
    });

    it('read the writes of the other immediately', async () => {
      for (let i = 0; i < 20; i++) {
        const [writer, reader] = i % 2 === 0 ? clients : clients.toReversed();
        const { id } = (await writer?.post('/products', { name: `product ${i}` }))?.json ?? {};
        expect((await reader?.get(`/products/${id}`))?.json).to.deep.equal({ id, name: `product ${i}` });
      }
    });

    it('let exactly one of many concurrent If-Match writers win, and lose no PATCH of other fields', async () => {
      const { id } = (await clients[0].post('/products', { name: 'Lamp' })).json;
      const path = `/products/${id}`;
      const racers = Array.from({ length: 40 }, (_, i) =>
        clients[i % 2]?.put(path, { name: `racer ${i}` }, { headers: { 'If-Match': '"1"' } }),
      );
      const statuses = (await Promise.all(racers)).map((response) => response?.status);
      expect(statuses.filter((status) => status === 200)).to.have.length(1);
      expect(statuses.filter((status) => status === 412)).to.have.length(39);

      const keys = Array.from({ length: 30 }, (_, i) => `k${i}`);
      const patches = keys.map((name, i) => clients[i % 2]?.patch(path, { attributes: { [name]: i } }));
      expect((await Promise.all(patches)).map((response) => response?.status)).to.deep.equal(keys.map(() => 200));
      expect(Object.keys((await clients[0].get(path)).json.attributes)).to.have.members(keys);
    });

    it('give a sku to exactly one of many concurrent products, and use no id twice', async () => {
      const responses = await Promise.all(
        Array.from({ length: 40 }, (_, i) => clients[i % 2]?.post('/products', { name: 'x', sku: 'one' })),
      );
      expect(responses.filter((response) => response?.status === 201)).to.have.length(1);
      expect(responses.filter((response) => response?.status === 409)).to.have.length(39);
      const made = await Promise.all(
        Array.from({ length: 100 }, (_, i) => clients[i % 2]?.post('/products', { name: `x${i}` })),
      );
      expect(new Set(made.map((response) => response?.json.id))).to.have.length(100);
    });

    it('share one quota', async () => {
      const remainingAfterRequest = async (client: HttpClient) => {
        const { headers } = await client.get('/products?limit=1');
        return Number(/;r=(\d+);t=/.exec(String(headers['ratelimit']))?.[1]);
      };
      // A replica counts on its own until it is connected to Redis, and while Redis responds late.
      await until('each counts the requests of the other', async () => {
        const before = await remainingAfterRequest(clients[0]);
        expect(await remainingAfterRequest(clients[1])).to.equal(before - 1);
        expect(await remainingAfterRequest(clients[0])).to.equal(before - 2);
      });
    });

    it('let no tag of before match once `catalogue changes reset` has ended', async () => {
      const { headers } = await clients[0].post('/products', { name: 'Lamp' });
      const path = `${headers.location}`;
      const options = { headers: { 'If-None-Match': `${headers.etag}` } };
      const statuses = () => Promise.all(clients.map(async (one) => (await one.get(path, options)).status));
      let isOver = false;
      // Each of them has just read the generation, at any moment.
      const readers = clients.map(async (one) => {
        while (!isOver) await one.get(path, options);
      });
      const { code, err } = await catalogue(root, ['changes', 'reset'], store.settings);
      const after = await statuses();
      isOver = true;
      await Promise.all(readers);
      expect([code, err, ...after]).to.deep.equal([0, '', 200, 200]);
      const tags = await Promise.all(clients.map(async (one) => (await one.get(path)).headers.etag));
      expect(tags[0]).to.match(/^"1-[0-9a-z]{4,}"$/);
      expect(tags[0]).to.equal(tags[1]);
    });

    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      it(`lose no acknowledged write if one gets ${signal} under load`, async () => {
        const before = new Set(await listed(clients[1]));
        const acknowledged: number[] = [];
        let isOver = false;
        const writers = Array.from({ length: 16 }, async (_, i) => {
          while (!isOver) {
            const response = await clients[i % 2]?.post('/products', { name: `writer ${i}` });
            if (response?.status === 201) acknowledged.push(response.json.id);
          }
        });
        const ended = Promise.allSettled(writers);
        await until('150 writes are acknowledged', () => acknowledged.length >= 150);
        const { code } = await services[0].stop(signal);
        if (signal === 'SIGTERM') expect(code).to.equal(0);
        const least = acknowledged.length + 50;
        await until('50 more writes are acknowledged', () => acknowledged.length >= least);
        isOver = true;
        await ended;
        clients[0].close();
        services[0] = start();
        clients[0] = await services[0].started(key);
        for (const client of clients) {
          const found = new Set((await listed(client)).filter((id) => !before.has(id)));
          expect(acknowledged.filter((id) => !found.has(id))).to.deep.equal([]);
          expect(new Set(acknowledged)).to.have.length(acknowledged.length);
          if (signal === 'SIGTERM')
            expect(found.size, 'every committed write got its response').to.equal(acknowledged.length);
        }
      });
    }
  });
