import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { SCOPES } from '#src/domain/access.js';
import { isWellFormedKey } from '#src/shared/api-key-format.js';
import { ChildProcessService, catalogue } from '../support/child-process-service.js';
import { HttpClient } from '../support/http-client.js';
import { jsonLines, logLines } from '../support/line-stream.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

/** The length of a part of a secret that does not occur by chance. */
const PART_LENGTH = 8;

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const signed = `${encode({ alg: 'HS256', typ: 'at+jwt' })}.${encode({ sub: '7' })}`;
const TOKEN = `${signed}.${createHmac('sha256', 'x').update(signed).digest('base64url')}`;

/** One process with SQLite and HTTPS, as users run it. The tests depend on their order. */
describe('the program', () => {
  const folder = temporaryFolder();
  let service: ChildProcessService;
  let client: HttpClient;
  let key: string;

  before(async () => {
    service = new ChildProcessService(folder, { LOG_LEVEL: 'trace' });
    client = await service.started();
    key = service.firstKey;
  });
  after(async () => {
    client.close();
    await service.stop('SIGKILL');
  });

  /** Returns the lines that the service logs during some work. */
  const loggedFor = async (work: () => Promise<void>): Promise<string[]> => {
    const begin = service.log.length;
    await work();
    await client.get('/products', { headers: { 'X-Request-Id': `end-at-${begin}` } });
    await service.logs(new RegExp(`"end-at-${begin}"[^\n]*\n`));
    return service.log.slice(begin).trimEnd().split('\n');
  };
  const expectNone = (text: string, keys: readonly string[], where: string) => {
    for (const secret of keys) expect(text, where).to.not.include(secret.slice(-PART_LENGTH));
  };

  it('prints a key and a working example request, and logs neither', async () => {
    const request =
      /^ {2}curl -w '\\n' --cacert (\S+) -H "Authorization: Bearer (\S+)" https:\/\/localhost:(\d+)(\/\S+)$/m;
    const [, authorityFile = '', pastedKey = '', port, path = ''] = request.exec(service.out) ?? [];
    const pasted = new HttpClient(Number(port), resolve(folder, authorityFile), pastedKey);
    expect((await pasted.get(path)).text).to.equal('[]');
    pasted.close();
    expect(isWellFormedKey(key)).to.equal(true);
    await service.logs(/"msg":"request"/);
    expect(service.log).to.not.include(key);
    for (const entry of logLines(service.log)) expect(entry).to.include.keys('level', 'time', 'msg');
    expect(service.out).to.not.include('{"');
  });

  it('accepts only TLS 1.2 and 1.3 with forward secrecy and authenticated encryption', async () => {
    const ca = readFileSync(join(folder, 'data/tls/ca.pem'));
    const handshake = (options: object) =>
      new Promise<string>((done) => {
        const { port } = client;
        const socket = connect({ port, host: 'localhost', ca, ALPNProtocols: ['http/1.1'], ...options });
        socket.once('secureConnect', () => {
          done(`${socket.getProtocol()} ${socket.alpnProtocol} ${socket.authorized}`);
          socket.destroy();
        });
        socket.once('error', () => done('refused'));
      });
    expect(await handshake({})).to.equal('TLSv1.3 http/1.1 true');
    expect(await handshake({ maxVersion: 'TLSv1.2' })).to.equal('TLSv1.2 http/1.1 true');
    expect(await handshake({ host: '127.0.0.1' })).to.equal('TLSv1.3 http/1.1 true');
    // As Debian's `curl --http1.0` does.
    expect(await handshake({ ALPNProtocols: ['http/1.0'] })).to.equal('TLSv1.3 http/1.0 true');
    expect(await handshake({ ALPNProtocols: ['http/1.0', 'http/1.1'] })).to.equal('TLSv1.3 http/1.1 true');
    expect(await handshake({ ALPNProtocols: ['h2'] })).to.equal('refused');
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    expect(await handshake(old)).to.equal('refused');
    for (const ciphers of ['ECDHE-ECDSA-AES128-SHA256', 'ECDHE-ECDSA-AES256-SHA', 'AES128-GCM-SHA256'])
      expect(await handshake({ maxVersion: 'TLSv1.2', ciphers }), ciphers).to.equal('refused');
  });

  it('logs one line for each request, without secrets from any part of it', async () => {
    const lines = await loggedFor(async () => {
      await client.get(`/products?access_token=${key}`);
      await client.get(`/${key}`, { headers: { 'X-Request-Id': key, 'User-Agent': key, Referer: key } });
      await client.post('/products', { name: key });
      await client.get('/products', { token: `${key}x` });
    });
    expect(lines.filter((line) => line.includes('"msg":"request"'))).to.have.length(4 + 1);
    expect(lines.join('\n')).to.not.include(key.slice(0, 20));
  });

  it('shows no API key in logs, metrics or errors, wherever a client sends it', async () => {
    const { key: made, id } = (await client.post('/api-keys', { name: 'x', scopes: ['products:read'] })).json;
    const [unknown, revoked] = [newApiKey(), made];
    const wrong = `${made.slice(0, -1)}${made.endsWith('0') ? '1' : '0'}`;
    const keys = [key, made, unknown];
    const errors: { status: number; headers: object; text: string }[] = [];
    const lines = await loggedFor(async () => {
      for (const token of [unknown, wrong, `${made} ${made}`]) errors.push(await client.get('/products', { token }));
      await client.get('/products', { token: made });
      for (const path of [
        `/products?access_token=${made}`,
        `/products?name=${made}&cursor=${made}`,
        `/${made}`,
        `/api-keys/${made}`,
        `/api-keys/pcs%5F${made.slice(4)}`,
        `/products/%70cs_${made.slice(4)}`,
        `/x/pcs%255f${made.slice(4)}`,
        `/${'x'.repeat(230)}/${made}`,
      ])
        errors.push(await client.get(path, { token: null }), await client.get(path));
      const headers = { 'Idempotency-Key': made, 'If-Match': made, Accept: made, 'User-Agent': made };
      errors.push(
        await client.post('/products', { [made]: made }, { headers: { ...headers, Accept: '*/*' } }),
        await client.post('/products', `${made}`, { headers }),
        await client.delete(`/api-keys/${id}`, { headers }),
      );
      expect((await client.delete(`/api-keys/${id}`)).status).to.equal(204);
      errors.push(await client.get('/products', { token: revoked }));
    });

    const management = new HttpClient(await service.managementPort(), undefined, 'none');
    const metrics = await management.get('/metrics', { token: null });
    management.close();
    expectNone(metrics.text, keys, '/metrics');
    for (const { status, headers } of errors) {
      expect(status).to.be.at.least(400);
      expectNone(JSON.stringify(headers), keys, 'a header');
    }
    // An error may repeat values of the URL or the body, but never those of Authorization.
    for (const { text } of errors.slice(0, 3)) expectNone(text, keys, 'an error');
    expect(lines.length).to.be.greaterThan(errors.length);
    expect(lines.join('\n')).to.include('"path":"/api-keys/*"');
    expectNone(service.log, keys, 'the log');
    expectNone(service.out.replaceAll(key, ''), keys, 'standard output');
  });

  it('logs no access token from any part of a request, and no line that a client forged', async () => {
    const lines = await loggedFor(async () => {
      for (const headers of [{ Authorization: `Bearer ${TOKEN}` }, { 'X-Request-Id': TOKEN.slice(0, 128) }])
        await client.get('/products', { token: null, headers: { ...headers, 'User-Agent': TOKEN } });
      await client.get(`/${TOKEN}?access_token=${TOKEN}`, { token: null });
      await client.get(`/${'x'.repeat(200)}${TOKEN}`, { token: null });
      await client.get('/products/%0A%7B%22level%22:%22forged%22%7D', { headers: { 'X-Request-Id': 'a"\\b' } });
      await client.raw('GET /a\\n{"level":"forged"} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    });
    expect(lines.filter((line) => line.includes('"msg":"request"'))).to.have.length.greaterThan(4 + 1);
    for (const line of lines) expect(JSON.parse(line)['level'], line).to.be.oneOf(['info', 'warn']);
    for (const part of TOKEN.split('.')) expect(service.log).to.not.include(part.slice(0, 20));
  });

  it('lets the command line create, list and revoke keys while it runs', async () => {
    const creation = ['keys', 'create', '--name', 'Bot é', '--scopes', 'products:read,users:read'];
    const made = await catalogue(folder, creation);
    expect(made.code).to.equal(0);
    const [token = ''] = /pcs_\w+/.exec(made.out) ?? [];
    expect((await client.get('/products', { token })).status).to.equal(200);

    const listed = await catalogue(folder, ['keys', 'list']);
    const keys = jsonLines(listed.out);
    const { id } = keys.at(-1);
    const shown = keys.map(({ name, scopes }) => `${name}: ${scopes.length}`);
    expect(shown).to.deep.equal([`first key: ${SCOPES.length}`, 'Bot é: 2']);
    expect(listed.out).to.not.include('digest').and.to.not.include(token);

    expect((await catalogue(folder, ['keys', 'revoke', `${id}`])).code).to.equal(0);
    await until('the key is rejected', async () => {
      const { status } = await client.get('/products', { token });
      return status === 401;
    });
    expect((await catalogue(folder, ['keys', 'revoke', `${id}`])).code).to.equal(65);
  });

  it('exits with 0 on SIGTERM, and has the same key, CA and records at the next start', async () => {
    const { id } = (await client.post('/products', { name: 'Lamp' })).json;
    client.close();
    const authority = readFileSync(join(folder, 'data/tls/ca.pem'), 'utf8');
    expect(await service.stop()).to.deep.equal({ code: 0, signal: null });
    expect(service.log).to.include('"msg":"stopped"');

    service = new ChildProcessService(folder, {});
    client = await service.started(key);
    expect(service.firstKey).to.equal('');
    expect(service.out).to.not.include(key);
    expect(readFileSync(join(folder, 'data/tls/ca.pem'), 'utf8')).to.equal(authority);
    expect((await client.get(`/products/${id}`)).json).to.deep.equal({ id, name: 'Lamp' });
    expect((await client.post('/products', { name: 'Torch' })).json.id, 'no gap in the ids').to.equal(id + 1);
  });
});
