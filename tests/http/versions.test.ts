import { expect } from 'chai';
import { expectRefusal, type HttpResponse, type RequestOptions } from '../support/http-client.js';
import { linksOf } from '../support/links.js';
import { ANNOUNCED, titledProducts, twoVersions } from '../support/two-versions.js';
import { until } from '../support/until.js';

type RequestCase = readonly [status: number, method: string, path: string, options?: RequestOptions];

const SECOND = { 'API-Version': '2' };
const SHOP = 'https://shop.example';

/** @returns one request for each kind of response, at or below a path of products */
function requestCases(path: string, field: string): RequestCase[] {
  const line = `${JSON.stringify({ [field]: 'line' })}\n`;
  return [
    [200, 'GET', path],
    [200, 'HEAD', path],
    [200, 'GET', path, { headers: { Accept: 'application/x-ndjson' } }],
    [304, 'GET', path, { headers: { 'If-None-Match': '*' } }],
    [201, 'POST', path, { body: { [field]: 'x' } }],
    [200, 'POST', `${path}/imports`, { body: line, headers: { 'Content-Type': 'application/x-ndjson' } }],
    [204, 'OPTIONS', path],
    [204, 'OPTIONS', path, { headers: { Origin: SHOP, 'Access-Control-Request-Method': 'POST' } }],
    [200, 'GET', `${path}/1`],
    [304, 'GET', `${path}/1`, { headers: { 'If-None-Match': '*' } }],
    [200, 'PATCH', `${path}/1`, { body: { [field]: 'y' } }],
    [204, 'PUT', `${path}/1`, { body: { [field]: 'z' }, headers: { Prefer: 'return=minimal' } }],
    [204, 'OPTIONS', `${path}/1`],
    [400, 'GET', `${path}?colour=red`],
    [400, 'OPTIONS', `${path}?colour=red`],
    [400, 'POST', path, { body: {} }],
    [400, 'POST', path, { body: '{' }],
    [400, 'GET', path, { headers: { 'API-Version': '3' } }],
    [401, 'GET', path, { token: null }],
    [401, 'GET', path, { token: 'x' }],
    [404, 'GET', `${path}/999`],
    [405, 'PURGE', `${path}/1`],
    [406, 'GET', path, { headers: { Accept: 'text/html' } }],
    [412, 'DELETE', `${path}/1`, { headers: { 'If-Match': '"99"' } }],
    [413, 'POST', path, { body: { [field]: 'x'.repeat(3_000) } }],
    [415, 'POST', path, { body: 'x', headers: { 'Content-Type': 'text/plain' } }],
  ];
}

const firstVersionCases = [...requestCases('/v1/products', 'name'), ...requestCases('/products', 'name')];
const secondVersionCases = [
  ...requestCases('/v2/products', 'title'),
  ...requestCases('/products', 'title').map(
    ([status, method, path, options]): RequestCase => [
      status,
      method,
      path,
      { ...options, headers: { ...SECOND, ...options?.headers } },
    ],
  ),
  // The first version responds to a request for an unknown version.
].filter(([, , path, options]) => path.startsWith('/v2') || options?.headers?.['API-Version'] === '2');

const deprecationHeaders = ({ headers }: HttpResponse) => ({
  ...(headers['deprecation'] && { deprecation: headers['deprecation'] }),
  ...(headers['sunset'] && { sunset: headers['sunset'] }),
});
const successorLink = ({ headers }: HttpResponse) => linksOf(headers['link'])['successor-version'];

describe('two versions of a resource, the first deprecated', () => {
  const service = twoVersions({ CORS_ORIGINS: SHOP });
  before(async () => {
    await service.post('/products', { name: 'Lamp', description: 'bright' });
    await service.post('/users', { name: 'Ann', email: 'ann@example.com' });
  });

  it('have different paths', async () => {
    const [first, second] = [await service.get('/v1/products/1'), await service.get('/v2/products/1')];
    expect(first.json).to.deep.equal({ id: 1, name: 'Lamp', description: 'bright' });
    expect(second.json).to.deep.equal({ id: 1, title: 'Lamp' });
  });

  it('share the path without a version, where API-Version selects one and 1 is the default', async () => {
    const by = async (headers: Record<string, string>) => (await service.get('/products/1', { headers })).text;
    const [first, second] = ['/v1/products/1', '/v2/products/1'].map((path) => service.get(path));
    expect(await by({})).to.equal((await first)?.text);
    expect(JSON.parse(await by({ 'API-Version': '' })).code).to.equal('unsupported_version');
    for (const path of ['/products/1', '/v1/products/1'])
      expect((await service.get(path, { headers: { 'API-Version': '1' } })).text).to.equal((await first)?.text);
    expect(await by(SECOND)).to.equal((await second)?.text);
  });

  for (const [version, cases, deprecation] of [
    ['1', firstVersionCases, ANNOUNCED],
    ['2', secondVersionCases, {}],
  ] as const) {
    const which = version === '1' ? 'its deprecation' : 'no deprecation';
    it(`send API-Version and ${which} in every response of version ${version}`, async () => {
      for (const [status, method, path, options = {}] of cases) {
        const response = await service.request(method, path, options);
        const title = `${method} ${path} ${JSON.stringify(options)}`;
        expect([response.status, response.headers['api-version']], title).to.deep.equal([status, version]);
        expect(deprecationHeaders(response), title).to.deep.equal(deprecation);
        const [below] = /\/(?:\d+|imports)$/.exec(path) ?? [''];
        expect(successorLink(response), title).to.equal(version === '1' ? `/v2/products${below}` : undefined);
      }
    });
  }

  it('put the successor and the page links into one Link header', async () => {
    await service.post('/products', { name: 'another' });
    const { headers } = await service.get('/v1/products?limit=1');
    expect(headers['link']).to.match(/^<\/v1\/products\?[^>]*>; rel="first", <[^>]*>; rel="next", <[^>]*>;/);
    expect(Object.keys(linksOf(headers['link']))).to.deep.equal(['first', 'next', 'successor-version']);
  });

  it('do not affect a resource with one version', async () => {
    for (const path of ['/v1/users', '/users', '/users/1', '/users/99']) {
      const response = await service.get(path);
      expect(response.headers['api-version']).to.equal('1');
      expect([deprecationHeaders(response), successorLink(response)]).to.deep.equal([{}, undefined]);
    }
  });

  it('reject a request for an unknown version or for both', async () => {
    for (const [path, requestedVersion, servedVersion] of [
      ['/products', '3', '1'],
      ['/products', '02', '1'],
      ['/products', 'v2', '1'],
      ['/products', '1, 2', '1'],
      ['/v1/products', '2', '1'],
      ['/v2/products', '1', '2'],
      ['/v2/products/1', '3', '2'],
    ] as const)
      for (const method of ['GET', 'OPTIONS']) {
        const headers = { 'API-Version': requestedVersion };
        const response = await service.request(method, path, { headers });
        expect(
          [response.status, response.headers['api-version'], response.json.code],
          `${method} ${path}`,
        ).to.deep.equal([400, servedVersion, 'unsupported_version']);
        expect(response.json.message).to.include('the versions 1, 2');
        const [detail] = response.json.details;
        expect(detail).to.include({ in: 'header', name: 'API-Version', code: 'out_of_range' });
      }
    const users = await expectRefusal(service.get('/users', { headers: SECOND }), 'unsupported_version');
    expect(users.json.message).to.include('only version 1');
  });

  it('are the only ones', async () => {
    for (const path of ['/v3/products', '/v0/products', '/v02/products', '/v2/users', '/v1/v2/products']) {
      const response = await expectRefusal(service.get(path), 'not_found', path);
      expect(deprecationHeaders(response)).to.deep.equal({});
    }
  });

  it('vary by API-Version only on the path without a version', async () => {
    for (const headers of [{}, SECOND, { 'API-Version': '3' }])
      for (const method of ['GET', 'OPTIONS']) {
        const { headers: got } = await service.request(method, '/products/1', { headers });
        expect(got['vary'], method).to.equal('Origin, API-Version, Accept');
      }
    for (const path of ['/v1/products/1', '/v2/products/1'])
      expect((await service.get(path)).headers['vary']).to.equal('Origin, Accept');
  });
});

describe('the rate limit of two versions', () => {
  const service = twoVersions({ RATE_LIMIT_REQUESTS: '1' });

  it('is shared, and reported in the requested version', async () => {
    expect((await service.get('/v2/products')).status).to.equal(200);
    const [first, second] = [await service.get('/products'), await service.get('/v2/products')];
    expect([first.status, first.headers['api-version']]).to.deep.equal([429, '1']);
    expect(deprecationHeaders(first)).to.deep.equal(ANNOUNCED);
    expect(successorLink(first)).to.equal('/v2/products');
    expect([second.status, second.headers['api-version'], deprecationHeaders(second)]).to.deep.equal([429, '2', {}]);
  });
});

describe('a version whose predecessor was removed', () => {
  const service = twoVersions({}, titledProducts);

  it('does not become the default: without the header, the version is still 1', async () => {
    for (const headers of [{}, { 'API-Version': '1' }]) {
      const response = await expectRefusal(service.get('/products', { headers }), 'unsupported_version');
      expect(response.json.message).to.include('only version 2');
      expect(response.headers['api-version']).to.equal('2');
    }
    expect((await service.get('/v1/products')).status).to.equal(404);
    for (const path of ['/v2/products', '/products'])
      expect((await service.get(path, { headers: SECOND })).status).to.equal(200);
  });
});

describe('the second version of API keys', () => {
  const service = twoVersions();

  it('revokes a key by an older ETag of its version if the key was only used since', async () => {
    const created = await service.post('/v2/api-keys', { name: 'reader', scopes: ['products:read'] });
    const { location = '', etag } = created.headers;
    expect([location, etag]).to.deep.equal([`/v2/api-keys/${created.json.id}`, '"v2.1"']);
    let seen: string | undefined = etag;
    while (seen === etag) {
      await service.get('/v2/products', { token: created.json.key });
      seen = (await service.get(location)).headers.etag;
    }
    expect(seen).to.match(/^"v2\.1@\d+"$/);
    const first = await service.delete(location, { headers: { 'If-Match': '"1"' } });
    expect([first.status, first.headers.etag]).to.deep.equal([412, seen]);
    expect((await service.delete(location, { headers: { 'If-Match': '"v2.1@1"' } })).status).to.equal(204);
  });
});

describe('what observers learn of a request', () => {
  const service = twoVersions();

  it('is its version, whether that is deprecated, its error code and its replays', async () => {
    const { client, entries } = service;
    const headers = { 'Idempotency-Key': '"title-0001"' };
    for (let i = 0; i < 2; i++) await client.post('/v2/products', { title: 'x' }, { headers });
    await client.get('/v1/products/999');
    await client.get('/nowhere');
    await until('all requests are told', () => entries.length === 4);
    const told = entries.map((one) => `${one.version} ${one.isDeprecated} ${one.errorCode} ${one.replays}`);
    const refused = ['1 true not_found 0', 'undefined false not_found 0'];
    expect(told).to.deep.equal(['2 false undefined 0', '2 false undefined 1', ...refused]);
  });
});
