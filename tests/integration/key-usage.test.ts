import { expect } from 'chai';
import { type Application, compose } from '#src/composition/application.js';
import { loadSettings } from '#src/config/settings.js';
import { Service } from '#src/process/service.js';
import { REPLICATED_STORES } from '../stores/index.js';
import type { CreatedStore } from '../stores/provider.js';
import { figuresOf } from '../support/figure.js';
import { HttpClient } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const figure = figuresOf('key-usage');

for (const provider of REPLICATED_STORES)
  describe(`the usage of an API key in two replicas on ${provider.name}`, () => {
    const folder = temporaryFolder();
    let store: CreatedStore;
    const replicas: {
      readonly application: Application;
      readonly service: Service;
      readonly client: HttpClient;
    }[] = [];
    let token: string;
    let path: string;

    before(async () => {
      store = await provider.create(folder);
      for (let i = 0; i < 2; i++) {
        const application = await compose(
          loadSettings({
            PORT: '0',
            MANAGEMENT_PORT: '0',
            DATA_DIR: folder,
            ...store.settings,
            LOG_LEVEL: 'silent',
            RATE_LIMIT_REQUESTS: '1000000',
            BOOTSTRAP_API_KEY: FIRST_KEY,
          }),
        );
        const service = new Service(application);
        const { port, authorityFile } = await service.start();
        replicas.push({ application, service, client: new HttpClient(port, authorityFile, FIRST_KEY) });
      }
      const [{ client }] = replicas as [(typeof replicas)[0]];
      const { id, key } = (await client.post('/api-keys', { name: 'x', scopes: ['products:read'] })).json;
      token = key;
      path = `/v1/api-keys/${id}`;
    });
    after(async () => {
      for (const { service, client } of replicas) {
        client.close();
        await service.stop();
      }
      await store.remove();
    });

    const reads = async (replica: number, count: number) => {
      for (let i = 0; i < count; i++)
        expect((await replicas[replica]?.client.get('/products?limit=1', { token }))?.status).to.equal(200);
    };
    const shown = () => Promise.all(replicas.map(async ({ client }) => (await client.get(path)).json.usage));

    it('is the sum of both, and both show it without any call', async () => {
      await reads(0, 20);
      await reads(1, 30);
      const requestedAt = performance.now();
      await until('both show 50 requests', async () => (await shown()).every((usage) => usage?.requests === 50));
      figure(
        `seconds until both replicas on ${provider.name} show the usage`,
        (performance.now() - requestedAt) / 1_000,
      );
      const [one, other] = await shown();
      expect(other).to.deep.equal(one);
      expect(one.byRoute).to.deep.equal([{ method: 'GET', route: '/v1/products', version: 1, requests: 50 }]);
    });

    it('counts nothing twice if a save is repeated because its outcome is unknown', async () => {
      const [{ application }] = replicas as [(typeof replicas)[0]];
      const { usage } = application.storage;
      const { save } = usage;
      let losses = 3;
      usage.save = async (counts) => {
        await save.call(usage, counts);
        if (losses-- > 0) throw new Error('the response was lost');
      };
      await reads(0, 10);
      while (losses > 0) await application.usageCounter.save().catch(() => {});
      await application.usageCounter.save();
      usage.save = save;
      expect((await shown()).map(({ requests }) => requests)).to.deep.equal([60, 60]);
    });
  });
