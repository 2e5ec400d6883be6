import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { ChildProcessService, catalogue } from '../../support/child-process-service.js';
import type { HttpClient } from '../../support/http-client.js';
import { FIRST_KEY } from '../../support/in-process-service.js';
import { accessToken } from '../../support/oauth.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const ENVIRONMENT = { BOOTSTRAP_API_KEY: FIRST_KEY, LOG_LEVEL: 'trace' };

describe('access tokens of two processes on one SQLite file', () => {
  const root = temporaryFolder();
  let folder: string;
  let services: ChildProcessService[];
  let clients: HttpClient[];

  const start = async (where: string, environment: Record<string, string> = {}) => {
    const service = new ChildProcessService(where, { ...ENVIRONMENT, ...environment });
    services.push(service);
    const client = await service.started(FIRST_KEY);
    clients.push(client);
    return client;
  };
  const token = (client: HttpClient) => accessToken(client, 1, FIRST_KEY);
  const use = async (client: HttpClient, bearer: string) => (await client.get('/products', { token: bearer })).status;
  const kids = async (client: HttpClient): Promise<string[]> =>
    (await client.get('/oauth/jwks')).json.keys.map(({ kid }: { kid: string }) => kid);
  const command = async (...args: string[]) => {
    const { code, out, err } = await catalogue(folder, ['signing-keys', ...args]);
    expect([code, err], args.join(' ')).to.deep.equal([0, '']);
    return out;
  };

  beforeEach(() => {
    folder = mkdtempSync(join(root, 'run-'));
    [services, clients] = [[], []];
  });
  afterEach(async () => {
    for (const client of clients) client.close();
    for (const service of services) await service.stop('SIGKILL');
  });

  it('are valid in both processes, which differ in their issuer but share one signing key', async () => {
    const [one, other] = await Promise.all([start(folder), start(folder)]);
    const tokens = await Promise.all([one, other, one, other].map(token));
    expect(new Set(tokens.map((jwt) => decodeJwt(jwt).iss)).size, 'two issuers').to.equal(2);
    expect(new Set(tokens.map((jwt) => decodeProtectedHeader(jwt).kid)).size, 'one key').to.equal(1);
    expect(new Set(tokens.map((jwt) => decodeJwt(jwt).jti)).size).to.equal(4);
    for (const jwt of tokens) expect([await use(one, jwt), await use(other, jwt)]).to.deep.equal([200, 200]);
    expect(await kids(one)).to.deep.equal(await kids(other));
    expect(await kids(one)).to.have.length(1);
  });

  it('stay valid after a restart and a copy of the store', async () => {
    const jwt = await token(await start(folder));
    await services[0]?.stop();
    const copy = ['copy', '--from', 'sqlite:data/catalogue.sqlite', '--to', 'sqlite:copy.sqlite'];
    const { code, out } = await catalogue(folder, copy);
    expect([code, /signing_keys: 1 records/.test(out)]).to.deep.equal([0, true]);
    expect(await use(await start(folder), jwt)).to.equal(200);
    const copied = await start(folder, { SQLITE_FILE: 'copy.sqlite' });
    expect(await use(copied, jwt)).to.equal(200);
    expect(await use(await start(mkdtempSync(join(root, 'other-'))), jwt), 'another store').to.equal(401);
  });

  it('stay valid after a rotation, and are invalid after the revocation of their key', async () => {
    const client = await start(folder);
    const jwt = await token(client);
    const [first] = await kids(client);
    expect(await command('rotate')).to.include('Signing key 2 is published from now on');
    const listed = (await command('list')).trim().split('\n');
    const shown = listed.map((line) => JSON.parse(line));
    expect(shown.map(({ id, phase }) => [id, phase])).to.deep.equal([
      [1, 'signing'],
      [2, 'next'],
    ]);
    expect(Object.keys(shown[1])).to.deep.equal(['id', 'kid', 'algorithm', 'createdAt', 'phase', 'signsFrom']);

    const later = await start(folder);
    expect(await kids(later)).to.deep.equal([first, shown[1].kid]);
    expect(await use(later, jwt)).to.equal(200);
    expect(decodeProtectedHeader(await token(later)).kid).to.equal(first);

    await command('revoke', '1');
    const last = await start(folder);
    expect(await use(last, jwt)).to.equal(401);
    const renewed = await token(last);
    expect(decodeProtectedHeader(renewed).kid).to.equal(shown[1].kid);
    expect(await use(later, renewed)).to.equal(200);
  });

  it('are not in the log, nor is their signing key', async () => {
    const client = await start(folder);
    const jwt = await token(client);
    await use(client, jwt);
    await use(client, `${jwt}x`);
    await services[0]?.stop();
    const { log = '', out = '' } = services[0] ?? {};
    expect(log).to.include('/oauth/token');
    expect(log + out).to.not.match(/eyJ|privateJwk|"dp"|pcs_0/);
  });
});
