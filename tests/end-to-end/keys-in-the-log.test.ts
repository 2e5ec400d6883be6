import { expect } from 'chai';
import { ChecksummedApiKey } from '#src/adapters/outbound/tokens/api-key-format.js';
import { HttpClient } from '../support/http-client.js';
import { catalogue, SpawnedService } from '../support/spawned-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** Too much of a secret to be chance. */
const PART = 8;

describe('an API key', () => {
  const folder = temporaryFolder();
  const format = new ChecksummedApiKey();
  let service: SpawnedService;
  let client: HttpClient;

  before(async () => {
    service = new SpawnedService(folder, { LOG_LEVEL: 'trace' });
    client = await service.started();
  });
  after(async () => {
    client.close();
    await service.stop('SIGKILL');
  });

  const expectNone = (text: string, keys: readonly string[], where: string) => {
    for (const key of keys) expect(text, where).to.not.include(key.slice(-PART));
  };

  it('is in no line of the log, no metric and no error, whatever is done with it', async () => {
    const { key, id } = (await client.post('/api-keys', { name: 'x', scopes: ['products:read'] })).json;
    const [unknown, revoked] = [format.generate(), key];
    const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    const keys = [service.firstKey, key, unknown];
    const errors = [];
    for (const token of [unknown, wrong, `${key} ${key}`])
      errors.push(await client.get('/products', { token }));
    await client.get('/products', { token: key });
    for (const path of [
      `/products?access_token=${key}`,
      `/products?name=${key}&cursor=${key}`,
      `/${key}`,
      `/api-keys/${key}`,
      `/api-keys/pcs%5F${key.slice(4)}`,
      `/products/%70cs_${key.slice(4)}`,
      `/x/pcs%255f${key.slice(4)}`,
      `/${'x'.repeat(230)}/${key}`,
    ])
      errors.push(await client.get(path, { token: null }), await client.get(path));
    const headers = { 'Idempotency-Key': key, 'If-Match': key, Accept: key, 'User-Agent': key };
    errors.push(
      await client.post('/products', { [key]: key }, { headers: { ...headers, Accept: '*/*' } }),
      await client.post('/products', `${key}`, { headers }),
      await client.delete(`/api-keys/${id}`, { headers }),
    );
    expect((await client.delete(`/api-keys/${id}`)).status).to.equal(204);
    errors.push(await client.get('/products', { token: revoked }));

    const [, port] = await service.logs(/"port":(\d+),"msg":"management listening"/);
    const management = new HttpClient(Number(port), undefined, 'none');
    const metrics = await management.get('/metrics', { token: null });
    management.close();
    expectNone(metrics.text, keys, '/metrics');
    for (const { status, headers: answered } of errors) {
      expect(status).to.be.at.least(400);
      expectNone(JSON.stringify(answered), keys, 'a header');
    }
    // What a client put into an address or a body it may be told again; what it put into Authorization never.
    for (const { text } of errors.slice(0, 3)) expectNone(text, keys, 'an error');

    await service.stop();
    expect(service.log.split('\n').length).to.be.greaterThan(errors.length);
    expect(service.log).to.include('pcs_[secret]');
    expectNone(service.log, keys, 'the log');
    expectNone(service.out.replaceAll(service.firstKey, ''), keys, 'standard output');
  });

  it('is in no complaint of the command line', async () => {
    const key = format.generate();
    const creation = ['keys', 'create', '--name', 'x', '--scopes'];
    for (const args of [[key], ['keys', 'create', `--${key}`], [...creation, key]]) {
      const { code, err, out } = await catalogue(folder, args);
      expect(code, args.join(' ')).to.be.oneOf([1, 64]);
      expectNone(err + out, [key], args.join(' '));
    }
    const settings = { STORE: key, LOG_LEVEL: key, BOOTSTRAP_API_KEY: `${key}x`, MONGODB_URL: key };
    const { code, err } = await catalogue(folder, ['serve'], settings);
    expect(code).to.equal(78);
    expectNone(err, [key], 'settings');
  });
});
