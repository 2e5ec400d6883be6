import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import { MongoClient } from 'mongodb';
import { ChildProcessService } from '../support/child-process-service.js';
import type { HttpClient } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { mongoUrl, serverOf, throughProxy } from '../support/mongo-url.js';
import { accessToken, basic, requestToken } from '../support/oauth.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('access tokens of replicas on one MongoDB', () => {
  const root = temporaryFolder();
  const database = `oauth-${randomUUID()}`;
  let services: ChildProcessService[] = [];
  let clients: HttpClient[] = [];

  const environment = () => ({
    STORE: 'mongodb',
    MONGODB_URL: mongoUrl(database),
    BOOTSTRAP_API_KEY: FIRST_KEY,
    PUBLIC_URL: 'https://api.example.com',
  });

  let proxy: TcpProxy;

  before(async () => {
    proxy = new TcpProxy(serverOf(mongoUrl('x')));
    services = Array.from({ length: 3 }, () => new ChildProcessService(mkdtempSync(join(root, 'run-')), environment()));
    clients = await Promise.all(services.map((service) => service.started(FIRST_KEY)));
  });
  after(async () => {
    for (const client of clients) client.close();
    for (const service of services) await service.stop('SIGKILL');
    await proxy.set('none');
    await proxy.close();
    const client = new MongoClient(mongoUrl(database));
    await client.db().dropDatabase();
    await client.close();
  });

  it('are signed by one shared key after concurrent first starts, and valid in all replicas', async () => {
    const tokens = await Promise.all(clients.map((client) => accessToken(client, 1, FIRST_KEY)));
    expect(new Set(tokens.map((jwt) => decodeProtectedHeader(jwt).kid)).size).to.equal(1);
    for (const client of clients) {
      for (const token of tokens) expect((await client.get('/products', { token })).status).to.equal(200);
      expect((await client.get('/oauth/jwks', { token: null })).json.keys).to.have.length(1);
    }
  });

  it('get 503 instead of 401 if the signing keys cannot be read in time', async () => {
    const MONGODB_URL = throughProxy(mongoUrl(database, ''), await proxy.listen());
    const service = new ChildProcessService(mkdtempSync(join(root, 'run-')), {
      ...environment(),
      MONGODB_URL,
    });
    services.push(service);
    const cutOff = await service.started(FIRST_KEY);
    clients.push(cutOff);
    const token = await accessToken(clients[0] ?? cutOff, 1, FIRST_KEY);
    await proxy.set('hang');
    const responses = await Promise.all([
      cutOff.get('/products', { token }),
      cutOff.get('/oauth/jwks', { token: null }),
      requestToken(cutOff, 'grant_type=client_credentials', { headers: basic('1', FIRST_KEY) }),
    ]);
    for (const response of responses) expect([response.status, response.json.code]).to.deep.equal([503, 'unavailable']);
    const oauthErrors = responses.map(({ json }) => json.error);
    expect(oauthErrors).to.deep.equal([undefined, undefined, 'temporarily_unavailable']);
    const { status } = await cutOff.get('/.well-known/oauth-authorization-server', { token: null });
    expect(status, 'the metadata needs no store').to.equal(200);
  });
});
