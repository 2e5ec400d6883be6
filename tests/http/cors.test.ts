import { expect } from 'chai';
import { unavailable } from '#src/domain/errors.js';
import type { HttpClient, HttpResponse } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { listService } from '../support/middleware-harness.js';

const SHOP = 'https://shop.example';
const OTHER = 'https://evil.example';
/** Every header of an answer that the contract names, but for those that scripts see anyway. */
const NAMED =
  'Accept-Patch, Allow, API-Version, Deprecation, ETag, Idempotency-Replayed, Link, Location, Preference-Applied, ' +
  'RateLimit, RateLimit-Policy, Retry-After, Sunset, WWW-Authenticate, X-Request-Id, X-Total-Count';
const READ =
  'Accept, API-Version, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer, X-Request-Id';

type Asked = readonly [method: string, path: string, body?: unknown];
/** One request for each kind of answer. */
const REQUESTED: readonly (readonly [status: number, requested: Asked, headers?: Record<string, string>])[] =
  [
    [200, ['GET', '/products']],
    [200, ['GET', '/v1/products/1']],
    [200, ['HEAD', '/products']],
    [304, ['GET', '/products/1'], { 'If-None-Match': '*' }],
    [200, ['GET', '/products'], { Accept: 'application/x-ndjson' }],
    [201, ['POST', '/products', { name: 'x' }]],
    [200, ['PATCH', '/products/1', { name: 'y' }]],
    [400, ['GET', '/products?colour=red']],
    [400, ['GET', '/products'], { 'API-Version': '2' }],
    [401, ['GET', '/products'], { Authorization: 'Bearer x' }],
    [404, ['GET', '/products/999']],
    [404, ['GET', '/getProducts']],
    [404, ['OPTIONS', '/getProducts']],
    [405, ['PUT', '/products', {}]],
    [406, ['GET', '/products'], { Accept: 'text/html' }],
    [412, ['DELETE', '/products/1'], { 'If-Match': '"99"' }],
    [414, ['GET', `/${'x'.repeat(9_000)}`]],
    [415, ['POST', '/products', 'x'], { 'Content-Type': 'text/plain' }],
    [431, ['GET', '/products'], { 'X-Large': 'x'.repeat(20_000) }],
    [204, ['OPTIONS', '/products']],
    [200, ['GET', '/health/live']],
  ];

const named = ({ headers }: HttpResponse, name: string) => headers[`access-control-${name}`];
const allNamed = ({ headers }: HttpResponse) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));
const variesByOrigin = ({ headers }: HttpResponse) => `${headers['vary']}`.split(', ').includes('Origin');

async function responses(client: HttpClient, Origin: string | undefined): Promise<HttpResponse[]> {
  await client.post('/products', { name: 'Lamp' });
  const all: HttpResponse[] = [];
  for (const [status, [method, path, body], more = {}] of REQUESTED) {
    const headers = { ...more, ...(Origin !== undefined && { Origin }) };
    const response = await client.request(method, path, { headers, body });
    expect(response.status, `${method} ${path}`).to.equal(status);
    all.push(response);
  }
  return all;
}

const preflight = (client: HttpClient, path: string, Origin = SHOP, method = 'PATCH', headers = {}) =>
  client.request('OPTIONS', path, {
    token: null,
    headers: {
      Origin,
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': 'authorization,content-type,if-match',
      ...headers,
    },
  });

describe('answers to scripts of other origins', () => {
  describe('are told to no origin unless one is listed', () => {
    const service = inProcessService();

    it('whatever is asked', async () => {
      for (const Origin of [undefined, SHOP, 'null', '*', '']) {
        for (const response of await responses(service.client, Origin)) {
          expect(allNamed(response)).to.deep.equal([]);
          expect(variesByOrigin(response)).to.equal(false);
        }
      }
    });

    it('and a preflight is an OPTIONS like any other', async () => {
      const response = await preflight(service.client, '/products');
      expect([response.status, response.headers['allow'], allNamed(response)]).to.deep.equal([
        204,
        'GET, HEAD, POST, OPTIONS',
        [],
      ]);
      expect((await preflight(service.client, '/products?colour=red')).status).to.equal(400);
    });
  });

  describe('are told to the origins that are listed', () => {
    const service = inProcessService({ CORS_ORIGINS: `${SHOP}, http://localhost:3000` });

    it('errors included, with every header that a script may need', async () => {
      for (const origin of [SHOP, 'http://localhost:3000']) {
        for (const response of await responses(service.client, origin)) {
          expect(named(response, 'allow-origin')).to.equal(origin);
          expect(named(response, 'expose-headers')).to.equal(NAMED);
          expect(allNamed(response)).to.have.length(2);
          expect(variesByOrigin(response)).to.equal(true);
        }
      }
    });

    it('and to no other, however alike, though every answer varies by it', async () => {
      for (const origin of [
        undefined,
        OTHER,
        'http://shop.example',
        `${SHOP}:8443`,
        `${SHOP}.evil.example`,
        `https://www.shop.example`,
        'HTTPS://SHOP.EXAMPLE',
        `${SHOP}/`,
        `${SHOP}, ${SHOP}`,
        'null',
        '*',
        '',
      ]) {
        for (const response of await responses(service.client, origin)) {
          expect(allNamed(response), origin).to.deep.equal([]);
          expect(variesByOrigin(response)).to.equal(true);
        }
      }
    });

    it('beside whatever else an answer varies by', async () => {
      const { headers } = await service.client.get('/products', { headers: { Origin: SHOP } });
      expect(headers['vary']).to.equal('Origin, API-Version, Accept, Prefer, Accept-Encoding');
    });

    it('after a preflight that says what a path takes, to anyone', async () => {
      for (const [path, methods] of [
        ['/products', 'GET, HEAD, POST, OPTIONS'],
        ['/v1/orders/1', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
        ['/health/ready', 'GET, HEAD, OPTIONS'],
      ] as const) {
        const response = await preflight(service.client, path);
        expect([response.status, response.text, response.headers['allow']]).to.deep.equal([204, '', methods]);
        expect(named(response, 'allow-origin')).to.equal(SHOP);
        expect(named(response, 'allow-methods')).to.equal(methods);
        expect(named(response, 'allow-headers')).to.equal(READ);
        expect(named(response, 'max-age')).to.equal('7200');
        expect(named(response, 'allow-credentials')).to.equal(undefined);
        expect(named(response, 'allow-private-network')).to.equal(undefined);
      }
      expect((await preflight(service.client, '/products/1')).headers['accept-patch']).to.not.equal(
        undefined,
      );
    });

    it('of which a preflight of a private network learns nothing more', async () => {
      const requested = { 'Access-Control-Request-Private-Network': 'true' };
      const response = await preflight(service.client, '/products', SHOP, 'GET', requested);
      expect([response.status, named(response, 'allow-private-network')]).to.deep.equal([204, undefined]);
    });

    it('so that a script sees what is wrong with its query, which a preflight could not tell', async () => {
      expect((await preflight(service.client, '/products?colour=red', SHOP, 'GET')).status).to.equal(204);
      const headers = { Origin: SHOP };
      const refused = await service.client.get('/products?colour=red', { headers });
      expect([refused.status, named(refused, 'allow-origin')]).to.deep.equal([400, SHOP]);
      expect((await service.client.request('OPTIONS', '/products?colour=red', { headers })).status).to.equal(
        400,
      );
    });

    it('where there is something: a preflight of nothing is 404, which the script may read', async () => {
      for (const path of ['/getProducts', '/products/', '/products/0']) {
        const response = await preflight(service.client, path);
        expect([response.status, response.json.code]).to.deep.equal([404, 'not_found']);
        expect(named(response, 'allow-origin')).to.equal(SHOP);
        expect(named(response, 'allow-methods')).to.equal(undefined);
      }
    });

    it('and a preflight of another origin is an OPTIONS like any other', async () => {
      const response = await preflight(service.client, '/products', OTHER);
      expect([response.status, allNamed(response)]).to.deep.equal([204, []]);
      expect((await preflight(service.client, '/products?colour=red', OTHER)).status).to.equal(400);
    });

    it('not on the management port, which no browser is to read', async () => {
      const response = await fetch(`http://127.0.0.1:${service.managementPort}/health/live`, {
        headers: { Origin: SHOP },
      });
      expect(response.headers.get('access-control-allow-origin')).to.equal(null);
    });
  });

  describe('are told to all where any origin is listed', () => {
    const service = inProcessService({ CORS_ORIGINS: '*' });

    it('by one word, and never with credentials', async () => {
      for (const Origin of [SHOP, 'null', undefined]) {
        for (const response of await responses(service.client, Origin)) {
          expect(named(response, 'allow-origin')).to.equal('*');
          expect(named(response, 'expose-headers')).to.equal(NAMED);
          expect(allNamed(response)).to.have.length(2);
          expect(variesByOrigin(response)).to.equal(true);
        }
      }
      const response = await preflight(service.client, '/products/1');
      expect(named(response, 'allow-origin')).to.equal('*');
      expect(named(response, 'allow-headers')).to.equal(READ);
      expect(named(response, 'allow-credentials')).to.equal(undefined);
    });
  });

  describe('that are over the limit', () => {
    const service = inProcessService({ CORS_ORIGINS: SHOP, RATE_LIMIT_REQUESTS: '1' });

    it('can be read too, when to try again included', async () => {
      const request = () => service.client.get('/products', { headers: { Origin: SHOP } });
      expect((await request()).status).to.equal(200);
      const over = await request();
      expect([over.status, named(over, 'allow-origin')]).to.deep.equal([429, SHOP]);
      expect(over.headers['retry-after']).to.match(/^\d+$/);
      expect(named(over, 'expose-headers')).to.include('Retry-After');
    });
  });

  describe('that tell of a failure of the service', () => {
    const service = listService(SHOP);

    it('can be read too', async () => {
      for (const [status, failure] of [
        [500, new Error('a defect')],
        [503, unavailable('The store is gone.')],
      ] as const) {
        service.records.before = () => Promise.reject(failure);
        const response = await service.client.get('/products', { headers: { Origin: SHOP }, token: null });
        expect([response.status, named(response, 'allow-origin')]).to.deep.equal([status, SHOP]);
        expect([named(response, 'expose-headers'), variesByOrigin(response)]).to.deep.equal([NAMED, true]);
      }
    });
  });

  describe('that did not come over HTTPS', () => {
    const service = inProcessService({ CORS_ORIGINS: SHOP, TLS: 'proxy', TRUSTED_PROXIES: '192.0.2.1' });

    it('can be read too', async () => {
      const response = await service.client.get('/products', { headers: { Origin: SHOP } });
      expect([response.status, named(response, 'allow-origin')]).to.deep.equal([403, SHOP]);
    });
  });
});
