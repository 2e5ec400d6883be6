import { expect } from 'chai';
import type { HttpResponse, RequestOptions } from '../support/http-client.js';
import { linksOf } from '../support/links.js';
import { ANNOUNCED, titledProducts, twoVersions } from '../support/two-versions.js';

type Asked = readonly [status: number, method: string, path: string, options?: RequestOptions];

const SECOND = { 'API-Version': '2' };
const SHOP = 'https://shop.example';

/** One request for each kind of answer, below an address of products. */
function askings(path: string, field: string): Asked[] {
  const line = `${JSON.stringify({ [field]: 'line' })}\n`;
  return [
    [200, 'GET', path],
    [200, 'HEAD', path],
    [200, 'GET', path, { headers: { Accept: 'application/x-ndjson' } }],
    [304, 'GET', path, { headers: { 'If-None-Match': '*' } }],
    [201, 'POST', path, { body: { [field]: 'x' } }],
    [200, 'POST', path, { body: line, headers: { 'Content-Type': 'application/x-ndjson' } }],
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

const ofFirst = [...askings('/v1/products', 'name'), ...askings('/products', 'name')];
const ofSecond = [
  ...askings('/v2/products', 'title'),
  ...askings('/products', 'title').map(
    ([status, method, path, options]): Asked => [
      status,
      method,
      path,
      { ...options, headers: { ...SECOND, ...options?.headers } },
    ],
  ),
  // Of a version that is not there the first one tells.
].filter(([, , path, options]) => path.startsWith('/v2') || options?.headers?.['API-Version'] === '2');

const announced = ({ headers }: HttpResponse) => ({
  ...(headers['deprecation'] && { deprecation: headers['deprecation'] }),
  ...(headers['sunset'] && { sunset: headers['sunset'] }),
});
const successor = ({ headers }: HttpResponse) => linksOf(headers['link'])['successor-version'];

describe('two versions of a resource, the first deprecated', () => {
  const service = twoVersions({ CORS_ORIGINS: SHOP });
  const request = () => service.client;
  before(async () => {
    await request().post('/products', { name: 'Lamp', description: 'bright' });
    await request().post('/users', { name: 'Ann', email: 'ann@example.com' });
  });

  it('are each at an address of their own', async () => {
    const [first, second] = [await request().get('/v1/products/1'), await request().get('/v2/products/1')];
    expect(first.json).to.deep.equal({ id: 1, name: 'Lamp', description: 'bright' });
    expect(second.json).to.deep.equal({ id: 1, title: 'Lamp' });
  });

  it('share the address without a version, where the header chooses; absent it is 1', async () => {
    const by = async (headers: Record<string, string>) =>
      (await request().get('/products/1', { headers })).text;
    const [first, second] = ['/v1/products/1', '/v2/products/1'].map((path) => request().get(path));
    expect(await by({})).to.equal((await first)?.text);
    expect(JSON.parse(await by({ 'API-Version': '' })).code).to.equal('unsupported_version');
    expect(await by({ 'API-Version': '1' })).to.equal((await first)?.text);
    expect(await by(SECOND)).to.equal((await second)?.text);
  });

  for (const [version, requested, outcomeText] of [
    ['1', ofFirst, ANNOUNCED],
    ['2', ofSecond, {}],
  ] as const) {
    const about = version === '1' ? 'that it is deprecated' : 'nothing of that';
    it(`say in every answer of version ${version} which it is and ${about}`, async () => {
      for (const [status, method, path, options = {}] of requested) {
        const response = await request().request(method, path, options);
        const what = `${method} ${path} ${JSON.stringify(options)}`;
        expect([response.status, response.headers['api-version']], what).to.deep.equal([status, version]);
        expect(announced(response), what).to.deep.equal(outcomeText);
        const [item] = /\/\d+$/.exec(path) ?? [''];
        expect(successor(response), what).to.equal(version === '1' ? `/v2/products${item}` : undefined);
      }
    });
  }

  it('say on one line that the first is deprecated and where its pages are', async () => {
    await request().post('/products', { name: 'another' });
    const { headers } = await request().get('/v1/products?limit=1');
    expect(headers['link']).to.match(/^<\/v1\/products\?[^>]*>; rel="first", <[^>]*>; rel="next", <[^>]*>;/);
    expect(Object.keys(linksOf(headers['link']))).to.deep.equal(['first', 'next', 'successor-version']);
  });

  it('leave a resource of one version as it was', async () => {
    for (const path of ['/v1/users', '/users', '/users/1', '/users/99']) {
      const response = await request().get(path);
      expect([response.headers['api-version'], announced(response), successor(response)]).to.deep.equal([
        '1',
        {},
        undefined,
      ]);
    }
  });

  it('are refused to whoever asks for another, or for both', async () => {
    for (const [path, requested, speaks] of [
      ['/products', '3', '1'],
      ['/products/1', '0', '1'],
      ['/products', '02', '1'],
      ['/products', 'v2', '1'],
      ['/products', '1, 2', '1'],
      ['/v1/products', '2', '1'],
      ['/v1/products/1', '3', '1'],
      ['/v2/products', '1', '2'],
      ['/v2/products/1', '3', '2'],
    ] as const) {
      for (const method of ['GET', 'OPTIONS', 'DELETE', 'HEAD']) {
        if (method === 'DELETE' && !path.endsWith('/1')) continue;
        const response = await request().request(method, path, { headers: { 'API-Version': requested } });
        expect(
          [response.status, response.headers['api-version']],
          `${method} ${path} ${requested}`,
        ).to.deep.equal([400, speaks]);
        if (method === 'HEAD') continue;
        expect(response.json.code).to.equal('unsupported_version');
        expect(response.json.message).to.include('the versions 1, 2');
        const [detail] = response.json.details;
        expect(detail).to.include({ in: 'header', name: 'API-Version', code: 'out_of_range' });
      }
    }
    const users = await request().get('/users', { headers: SECOND });
    expect([users.status, users.json.code]).to.deep.equal([400, 'unsupported_version']);
    expect(users.json.message).to.include('version 1 alone');
  });

  it('may be named twice alike', async () => {
    for (const [path, requested] of [
      ['/v1/products', '1'],
      ['/v2/products', '2'],
    ] as const) {
      expect((await request().get(path, { headers: { 'API-Version': requested } })).status).to.equal(200);
    }
  });

  it('are all that there is', async () => {
    for (const path of ['/v3/products', '/v0/products', '/v02/products', '/v2/users', '/v1/v2/products']) {
      const response = await request().get(path);
      expect([response.status, response.json.code], path).to.deep.equal([404, 'not_found']);
      expect(announced(response)).to.deep.equal({});
    }
  });

  it('vary by the header where the address does not say which', async () => {
    for (const headers of [{}, SECOND, { 'API-Version': '3' }]) {
      const { headers: got } = await request().get('/products/1', { headers });
      expect(got['vary']).to.equal('Origin, API-Version, Accept');
    }
    for (const path of ['/v1/products/1', '/v2/products/1'])
      expect((await request().get(path)).headers['vary']).to.equal('Origin, Accept');
  });

  it('show scripts of other origins what they say of themselves', async () => {
    const { headers } = await request().get('/products/1', { headers: { Origin: SHOP } });
    const exposed = `${headers['access-control-expose-headers']}`.split(', ');
    expect(exposed).to.include.members(['API-Version', 'Deprecation', 'Sunset', 'Link']);
  });
});

describe('a rate limit over two versions', () => {
  const service = twoVersions({ RATE_LIMIT_REQUESTS: '1' });

  it('is one, and told in the words of the version that was asked', async () => {
    expect((await service.client.get('/v2/products')).status).to.equal(200);
    const [first, second] = [await service.client.get('/products'), await service.client.get('/v2/products')];
    expect([first.status, first.headers['api-version']]).to.deep.equal([429, '1']);
    expect({ ...announced(first), link: successor(first) }).to.deep.equal({
      ...ANNOUNCED,
      link: '/v2/products',
    });
    expect([second.status, second.headers['api-version'], announced(second)]).to.deep.equal([429, '2', {}]);
  });
});

describe('a version whose predecessor is gone', () => {
  const service = twoVersions({}, titledProducts);
  const request = () => service.client;

  it('takes nothing over: an absent header is 1 for ever', async () => {
    for (const headers of [{}, { 'API-Version': '1' }]) {
      const response = await request().get('/products', { headers });
      expect([response.status, response.json.code]).to.deep.equal([400, 'unsupported_version']);
      expect(response.json.message).to.include('version 2 alone');
      expect(response.headers['api-version']).to.equal('2');
    }
    expect((await request().get('/v1/products')).status).to.equal(404);
    for (const path of ['/v2/products', '/products'])
      expect((await request().get(path, { headers: SECOND })).status).to.equal(200);
  });
});

describe('the second version of API keys', () => {
  const service = twoVersions();
  const request = () => service.client;

  it('revokes by its own tag the key that was seen, however often it was used since', async () => {
    const made = await request().post('/v2/api-keys', { name: 'reader', scopes: ['products:read'] });
    const { location = '', etag } = made.headers;
    expect([location, etag]).to.deep.equal([`/v2/api-keys/${made.json.id}`, '"v2.1"']);
    let seen: string | undefined = etag;
    while (seen === etag) {
      await request().get('/v2/products', { token: made.json.key });
      seen = (await request().get(location)).headers.etag;
    }
    expect(seen).to.match(/^"v2\.1@\d+"$/);
    const first = await request().delete(location, { headers: { 'If-Match': '"1"' } });
    expect([first.status, first.headers.etag]).to.deep.equal([412, seen]);
    expect((await request().delete(location, { headers: { 'If-Match': '"v2.1@1"' } })).status).to.equal(204);
  });
});
