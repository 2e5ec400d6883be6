import { expect } from 'chai';
import { HttpClient, type HttpResponse, type RequestOptions } from '../support/http-client.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { linksOf } from '../support/links.js';
import { prefixProxy } from '../support/prefix-proxy.js';
import { twoVersions } from '../support/two-versions.js';

const PREFIX = '/shop/catalogue';
const PUBLIC_URL = `https://shop.example${PREFIX}`;

/** The addresses in the headers of a response, which HTTP resolves against that of the request. */
function addressesIn({ headers }: HttpResponse): string[] {
  const { location, 'content-location': contentLocation } = headers;
  return [location, contentLocation, ...Object.values(linksOf(headers['link']))].flatMap((one) => one ?? []);
}

describe('with a path in PUBLIC_URL, behind a proxy that removes it', () => {
  const service = inProcessService({ TLS: 'proxy', TRUSTED_PROXIES: '127.0.0.1', PUBLIC_URL });
  const proxy = prefixProxy(PREFIX, service);
  let client: HttpClient;
  before(() => (client = new HttpClient(proxy.port, undefined, FIRST_KEY)));
  after(() => client.close());

  const send = async (method: string, path: string, options: RequestOptions = {}) => {
    const response = await client.request(method, path, options);
    for (const address of addressesIn(response)) expect(address, `${method} ${path}`).to.match(/^\/shop\/catalogue\//);
    return response;
  };
  const get = (path: string, options?: RequestOptions) => send('GET', path, options);

  it('every link of GET / leads to the service', async () => {
    const { json } = await get(`${PREFIX}/`);
    expect(Object.keys(json)).to.include.members(['products', 'openapi', 'console', 'authorizationServer']);
    for (const [name, address] of Object.entries<string>(json)) {
      expect(address, name).to.match(/^\/shop\/catalogue\//);
      expect((await get(address)).status, name).to.equal(200);
    }
  });

  it('a browser is redirected to a page whose files and neighbours exist', async () => {
    const { status, headers } = await get(`${PREFIX}/`, { headers: { Accept: 'text/html' } });
    expect([status, headers.location]).to.deep.equal([303, `${PREFIX}/docs`]);
    for (const page of ['docs', 'console']) {
      const { text } = await get(`${PREFIX}/${page}`, { headers: { Accept: 'text/html' } });
      const references = [...text.matchAll(/(?:href|src)="(?!data:|#)([^"]+)"/g)].map(([, one = '']) => one);
      expect(references.length, page).to.be.at.least(3);
      for (const reference of references) {
        const { pathname } = new URL(reference, `http://localhost${PREFIX}/${page}`);
        expect((await get(pathname, { headers: { Accept: '*/*' } })).status, pathname).to.equal(200);
      }
    }
  });

  it('an error that names an address names the one for clients', async () => {
    for (const [type, body] of [
      ['application/x-ndjson', '{"name":"Lamp"}'],
      ['application/json', '[{"name":"Lamp"}]'],
    ] as const) {
      const { json } = await send('POST', `${PREFIX}/v1/products`, { body, headers: { 'Content-Type': type } });
      expect(json.message).to.include(` to ${PREFIX}/v1/products/imports`);
    }
  });

  for (const path of ['/v1', ''])
    it(`Location leads to a new record, and Link to every page, at ${path}/products`, async () => {
      const ids: number[] = [];
      for (let i = 0; i < 5; i++) {
        const created = await send('POST', `${PREFIX}${path}/products`, { body: { name: `Lamp ${path}` } });
        expect((await get(String(created.headers.location))).json).to.deep.equal(created.json);
        ids.push(created.json.id);
      }
      const seen: number[] = [];
      const start = `${PREFIX}${path}/products?limit=2&name=Lamp%20${encodeURIComponent(path)}`;
      let links: Record<string, string> = {};
      for (let next: string | undefined = start; next !== undefined; next = links['next']) {
        const page = await get(next);
        seen.push(...page.json.map(({ id }: { id: number }) => id));
        links = linksOf(page.headers['link']);
      }
      expect(seen).to.deep.equal(ids);
      for (const rel of ['first', 'prev']) expect((await get(String(links[rel]))).json, rel).to.have.length(2);
      expect(links['first']).to.match(new RegExp(`^${PREFIX}${path}/products\\?`));
    });

  it('Location and Content-Location of a record by a unique field lead to it', async () => {
    for (const path of ['/v1/products/sku/A-1', '/users/email/c%40example.com']) {
      const created = await send('PUT', `${PREFIX}${path}`, { body: { name: 'A' } });
      expect(created.status).to.equal(201);
      for (const name of ['location', 'content-location'])
        expect((await get(String(created.headers[name]))).json, name).to.deep.equal(created.json);
      for (const response of [await get(PREFIX + path), await send('PATCH', PREFIX + path, { body: {} })])
        expect(response.headers['content-location']).to.equal(created.headers.location);
    }
  });

  it('absolute addresses are those of PUBLIC_URL', async () => {
    expect((await get(`${PREFIX}/openapi.json`)).json.servers).to.deep.equal([{ url: PUBLIC_URL }]);
    const metadata = '/.well-known/oauth-protected-resource';
    expect((await get(`${PREFIX}${metadata}`)).json.resource).to.equal(PUBLIC_URL);
    expect((await get(`${PREFIX}/v1/products`, { token: null })).headers['www-authenticate']).to.include(
      `resource_metadata="${PUBLIC_URL}${metadata}"`,
    );
  });
});

describe('with a path in PUBLIC_URL, a deprecated version', () => {
  const service = twoVersions({ PUBLIC_URL });

  it('links to the same address in the next one', async () => {
    const { headers } = await service.get('/v1/products?limit=1');
    expect(linksOf(headers['link'])['successor-version']).to.equal(`${PREFIX}/v2/products`);
  });
});
