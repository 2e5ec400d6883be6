import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import { REPLICATED_STORES } from '../stores/index.js';
import type { CreatedStore } from '../stores/provider.js';
import { ChildProcessService, catalogue } from '../support/child-process-service.js';
import type { HttpClient } from '../support/http-client.js';
import { accessToken } from '../support/oauth.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const READER = { name: 'reader', scopes: ['products:read'] };

/** What two processes share besides records. `durability/two-processes.test.ts` has their writes. */
for (const provider of REPLICATED_STORES)
  describe(`two replicas on one ${provider.name}`, () => {
    const folder = temporaryFolder();
    let store: CreatedStore;
    let services: ChildProcessService[];
    let clients: HttpClient[];
    let here: HttpClient;
    let there: HttpClient;

    before(async () => {
      store = await provider.create(folder);
      const settings = { ...store.settings, RATE_LIMIT_REQUESTS: '100000' };
      services = [1, 2].map(() => new ChildProcessService(folder, settings));
      await Promise.all(services.map((service) => service.prints(/listens on[\s\S]*curl/)));
      const keys = services.map(({ firstKey }) => firstKey).filter(Boolean);
      expect(keys, 'exactly one prints the first key').to.have.length(1);
      clients = await Promise.all(services.map((service) => service.started(keys[0])));
      [here, there] = clients as [HttpClient, HttpClient];
    });
    after(async () => {
      for (const client of clients) client.close();
      for (const service of services) await service.stop('SIGKILL');
      await store.remove();
    });

    const reads = async (client: HttpClient, token: string) =>
      (await client.get('/products?limit=1', { token })).status;

    it('accept the keys and tokens of each other immediately, and refuse revoked ones', async () => {
      const scopes = ['keys:admin', ...READER.scopes];
      const { id, key } = (await here.post('/api-keys', { name: 'admin', scopes })).json;
      const tokens = await Promise.all(clients.map((client) => accessToken(client, id, key)));
      expect(new Set(tokens.map((token) => decodeProtectedHeader(token).kid)).size, 'one key signs').to.equal(1);
      const credentials = [key, ...tokens];
      const makes = async (token: string) => (await there.post('/api-keys', READER, { token })).status;
      for (const token of credentials) {
        for (const client of clients) expect(await reads(client, token)).to.equal(200);
        expect(await makes(token)).to.equal(201);
      }
      expect((await here.delete(`/api-keys/${id}`)).status).to.equal(204);
      for (const token of credentials) {
        expect(await makes(token), 'immediately in every replica').to.equal(401);
        expect(await reads(here, token)).to.equal(401);
        await until('the other replica refuses it', async () => (await reads(there, token)) === 401);
      }
    });

    it('show the sum of the requests of a key', async () => {
      const { id, key } = (await here.post('/api-keys', READER)).json;
      for (let i = 0; i < 50; i++) await reads(i < 20 ? here : there, key);
      const shown = () => Promise.all(clients.map(async (client) => (await client.get(`/api-keys/${id}`)).json.usage));
      await until('both show 50 requests', async () => (await shown()).every((usage) => usage?.requests === 50));
      const [one, other] = await shown();
      expect(other).to.deep.equal(one);
      expect(one.byRoute).to.deep.equal([{ method: 'GET', route: '/v1/products', version: 1, requests: 50 }]);
    });

    it('let no tag of before match once `catalogue changes reset` has ended', async () => {
      const { headers } = await here.post('/products', { name: 'Lamp' });
      const path = `${headers.location}`;
      const options = { headers: { 'If-None-Match': `${headers.etag}` } };
      const statuses = () => Promise.all(clients.map(async (one) => (await one.get(path, options)).status));
      let isOver = false;
      // Each of them has just read the generation, at any moment.
      const readers = clients.map(async (one) => {
        while (!isOver) await one.get(path, options);
      });
      const { code, err } = await catalogue(folder, ['changes', 'reset'], store.settings);
      const after = await statuses();
      isOver = true;
      await Promise.all(readers);
      expect([code, err, ...after]).to.deep.equal([0, '', 200, 200]);
      const tags = await Promise.all(clients.map(async (one) => (await one.get(path)).headers.etag));
      expect(tags[0]).to.match(/^"1-[0-9a-z]{4,}"$/);
      expect(tags[0]).to.equal(tags[1]);
    });
  });
