import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { ChildProcessService } from '../support/child-process-service.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { mongoUrl, serverOf, throughProxy } from '../support/mongo-url.js';
import { accessToken, basic, requestToken } from '../support/oauth.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('access tokens of a service that cannot read its signing keys in time', () => {
  const folder = temporaryFolder();
  const database = `oauth-${randomUUID()}`;

  it('get 503 instead of 401, while the metadata are served', async () => {
    const proxy = new TcpProxy(serverOf(mongoUrl('x')));
    const settings = { STORE: 'mongodb', BOOTSTRAP_API_KEY: FIRST_KEY, PUBLIC_URL: 'https://api.example.com' };
    const urls = [mongoUrl(database), throughProxy(mongoUrl(database, ''), await proxy.listen())];
    const services = urls.map((MONGODB_URL) => new ChildProcessService(folder, { ...settings, MONGODB_URL }));
    try {
      const [other, cutOff] = [await services[0]?.started(FIRST_KEY), await services[1]?.started(FIRST_KEY)];
      if (!other || !cutOff) throw new Error('A service is missing.');
      const token = await accessToken(other, 1, FIRST_KEY);
      other.close();
      await proxy.set('hang');
      const responses = await Promise.all([
        cutOff.get('/products', { token }),
        cutOff.get('/oauth/jwks', { token: null }),
        requestToken(cutOff, 'grant_type=client_credentials', { headers: basic('1', FIRST_KEY) }),
      ]);
      expect(responses.map(({ status, json }) => [status, json.code, json.error])).to.deep.equal([
        [503, 'unavailable', undefined],
        [503, 'unavailable', undefined],
        [503, 'unavailable', 'temporarily_unavailable'],
      ]);
      expect((await cutOff.get('/.well-known/oauth-authorization-server', { token: null })).status).to.equal(200);
      cutOff.close();
    } finally {
      for (const service of services) await service.stop('SIGKILL');
      await proxy.set('none');
      await proxy.close();
      const client = new MongoClient(mongoUrl(database));
      await client.db().dropDatabase();
      await client.close();
    }
  });
});
