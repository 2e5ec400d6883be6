import { expect } from 'chai';
import { type RequestOptions, refusalOf, statusesIn } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { list } from '../support/list.js';

const HTTPS = { 'X-Forwarded-Proto': 'https' };
const TOKEN = `Authorization: Bearer ${FIRST_KEY}`;
const YEAR = 'max-age=31536000';
const PROXY = '127.0.0.1';
const STRANGER = '127.0.0.2';

describe('behind a proxy', () => {
  const service = inProcessService({ TLS: 'proxy', TRUSTED_PROXIES: `${PROXY}, 10.0.0.0/8` });
  const get = (path: string, options: RequestOptions = {}) =>
    service.get(path, { ...options, headers: { ...HTTPS, ...options.headers } });
  const send = (lines: string[]) => service.raw(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`);
  const statusOf = async (target: string) => statusesIn(await send([`GET ${target} HTTP/1.1`, 'Host: localhost']));
  const expectHttpsRequired = (response: Awaited<ReturnType<typeof get>>, message: string) => {
    expect(refusalOf(response), message).to.deep.equal([403, 'https_required']);
    expect(response.headers, message).to.not.have.any.keys('location', 'ratelimit', 'ratelimit-policy');
    expect(response.headers, message).to.include({ 'cache-control': 'no-store', 'strict-transport-security': YEAR });
    expect(response.headers['x-request-id'], message).to.be.a('string');
  };

  it('serves requests that reached the proxy over HTTPS', async () => {
    const created = await service.post('/v1/products', { name: 'Lamp' }, { headers: HTTPS });
    expect(created.status).to.equal(201);
    expect((await get(String(created.headers.location))).json.name).to.equal('Lamp');
    for (const proto of ['HTTPS', 'https, https', 'https,https', ' https ,\tHTTPS , Https']) {
      const headers = { 'X-Forwarded-Proto': proto };
      expect((await get('/products', { headers })).status, proto).to.equal(200);
    }
    const twice = { 'X-Forwarded-Proto': ['https', 'https'] };
    expect((await service.get('/products', { headers: twice })).status).to.equal(200);
  });

  it('rejects every request that reached the proxy over plain HTTP', async () => {
    for (const proto of [
      ...[undefined, ''],
      ...list`http  https, http  http, https  https, https, http  https,  , https  https, , https
        https https  wss  httpsx`,
    ]) {
      const headers: Record<string, string> = proto === undefined ? {} : { 'X-Forwarded-Proto': proto };
      for (const path of ['/products', '/nowhere', '/', '/health', '/products?access_token=x'])
        expectHttpsRequired(await service.get(path, { headers }), `${proto} ${path}`);
      expectHttpsRequired(await service.post('/products', { name: 'x' }, { headers }), 'POST');
    }
  });

  it('rejects a client that is not a trusted proxy, whatever its headers say', async () => {
    for (const headers of [
      {},
      HTTPS,
      { ...HTTPS, 'X-Forwarded-For': PROXY },
      { ...HTTPS, 'X-Forwarded-For': '10.0.0.1', Forwarded: 'proto=https;for=127.0.0.1' },
    ]) {
      expectHttpsRequired(await get('/products', { from: STRANGER, headers }), JSON.stringify(headers));
      expectHttpsRequired(await get('/products', { from: STRANGER, token: null, headers }), 'no token');
    }
  });

  it('responds to health probes from any client', async () => {
    for (const from of [PROXY, STRANGER]) {
      for (const path of ['/health/live', '/health/ready']) {
        const response = await service.get(path, { from, token: null });
        expect([response.status, response.headers['strict-transport-security']]).to.deep.equal([200, YEAR]);
        expect(response.headers).to.not.have.property('ratelimit');
      }
      expect((await service.get('/health/other', { from })).json.code).to.equal('not_found');
    }
  });

  it('responds to health probes in absolute form, which name their path behind the host', async () => {
    for (const target of ['http://localhost/health/live', 'HTTPS://localhost:8443/health/ready'])
      expect(await statusOf(target), target).to.deep.equal(['200']);
    for (const target of ['http://localhost/products?/health/live', 'http://localhost/x/health/live', '/HEALTH/live'])
      expect(await statusOf(target), target).to.deep.equal(['403 https_required']);
  });

  it('has Strict-Transport-Security on every response, and the same limits as with TLS', async () => {
    const get = 'GET /products HTTP/1.1';
    for (const [lines, expected] of [
      [[`GET /products?limit=${'1'.repeat(8_200)} HTTP/1.1`, 'Host: x'], '414 uri_too_long'],
      [[get, 'Host: x', `X: ${'x'.repeat(17_000)}`], '431 headers_too_large'],
      [[get, 'Host: x', `X: ${'x'.repeat(70_000)}`], '431 headers_too_large'],
      [[get, 'Host: x', 'Bad Header: x'], '400 invalid_parameter'],
      [['BREW /products HTTP/1.1', 'Host: x'], '405 method_not_allowed'],
      [[get], '400 invalid_parameter'],
      [[get, 'Host: x', 'Expect: wonders'], '417 expectation_failed'],
      [['GET /nowhere HTTP/1.1', 'Host: x'], '404 not_found'],
      [['OPTIONS /products HTTP/1.1', 'Host: x'], '204'],
    ] as const) {
      const text = await send([...lines, TOKEN, 'X-Forwarded-Proto: https']);
      expect(statusesIn(text), lines[0].slice(0, 40)).to.deep.equal([expected]);
      expect(text.match(/\r\nStrict-Transport-Security: max-age=31536000\r\n/g)).to.have.length(1);
    }
  });
});

describe('the rate limit of an IP address behind a proxy', () => {
  const service = inProcessService({
    TLS: 'proxy',
    HOST: '::',
    TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8',
    RATE_LIMIT_REQUESTS: '100',
    RATE_LIMIT_WINDOW_SECONDS: '600',
  });
  const remaining = async (...lines: string[]) => {
    const field = lines.map((line) => `X-Forwarded-For: ${line}\r\n`).join('');
    const text = await service.raw(
      `GET /nowhere HTTP/1.1\r\nHost: x\r\nX-Forwarded-Proto: https\r\n${field}Connection: close\r\n\r\n`,
    );
    return Number(/\r\nRateLimit: "default";r=(\d+);/i.exec(text)?.[1]);
  };

  // trusted-proxies.test.ts has the addresses that the header names.
  it('applies to the rightmost address that is not a trusted proxy, else to the proxy itself', async () => {
    for (const [left, ...lines] of [
      [99, '192.0.2.1'],
      [98, '203.0.113.9', '192.0.2.1'],
      [97, '192.0.2.1', '10.0.0.7'],
      [99, '203.0.113.9'],
      [99, '2001:db8:1:2::1'],
      [98, '[2001:db8:1:2:ffff::9]:443'],
      [99, '192.0.2.50, unknown'],
      [98],
    ] as const)
      expect(await remaining(...lines), lines.join()).to.equal(left);
  });

  it('also counts failed authentications', async () => {
    const wrong = (client: string) =>
      service.get('/products', {
        token: 'nonsense',
        headers: { ...HTTPS, 'X-Forwarded-For': `203.0.113.77, ${client}` },
      });
    for (let i = 0; i < 20; i++) expect((await wrong('198.51.100.1')).status).to.equal(401);
    expect((await wrong('198.51.100.1')).status).to.equal(429);
    expect((await wrong('198.51.100.2')).status).to.equal(401);
  });
});

describe('without a proxy', () => {
  const service = inProcessService({ RATE_LIMIT_REQUESTS: '100', RATE_LIMIT_WINDOW_SECONDS: '600' });

  it('ignores X-Forwarded-For and X-Forwarded-Proto', async () => {
    const seen = new Set<unknown>();
    for (let i = 1; i <= 3; i++) {
      const headers = { 'X-Forwarded-For': `192.0.2.${i}`, 'X-Forwarded-Proto': 'http' };
      const response = await service.get('/nowhere', { token: null, headers });
      expect(response.status).to.equal(404);
      seen.add(/r=\d+/.exec(String(response.headers['ratelimit']))?.[0]);
    }
    expect([...seen]).to.deep.equal(['r=99', 'r=98', 'r=97']);
  });

  it('sends no Strict-Transport-Security with a self-signed certificate', async () => {
    expect((await service.get('/products')).headers).to.not.have.property('strict-transport-security');
    expect(await service.raw('nonsense\r\n\r\n')).to.not.match(/strict-transport/i);
  });
});
