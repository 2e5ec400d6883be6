import { expect } from 'chai';
import { unavailable } from '#src/domain/errors.js';
import { expectRefusal, type HttpClient, type HttpResponse } from '../support/http-client.js';
import { inProcessService } from '../support/in-process-service.js';
import { listService } from '../support/middleware-harness.js';

const SHOP = 'https://shop.example';
const OTHER = 'https://evil.example';
/** The response headers of the contract, without those that scripts can always read. */
const EXPOSED_HEADERS =
  'Accept-Patch, Allow, API-Version, Content-Location, Deprecation, ETag, Idempotency-Replayed, Link, Location, ' +
  'Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, Sunset, WWW-Authenticate, X-Request-Id, X-Total-Count';
const ALLOWED_HEADERS =
  'Accept, API-Version, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Prefer, X-Request-Id';

type RequestCase = readonly [method: string, path: string, body?: unknown];
/** One request for each kind of response. */
const REQUESTS: readonly (readonly [status: number, request: RequestCase, headers?: Record<string, string>])[] = [
  [200, ['GET', '/products']],
  [200, ['GET', '/v1/products/1']],
  [200, ['HEAD', '/products']],
  [304, ['GET', '/products/1'], { 'If-None-Match': '*' }],
  [200, ['GET', '/products'], { Accept: 'application/x-ndjson' }],
  [201, ['POST', '/products', { name: 'x' }]],
  [200, ['PATCH', '/products/1', { name: 'y' }]],
  [400, ['GET', '/products?colour=red']],
  [400, ['GET', '/products'], { 'API-Version': '99' }],
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

const corsHeader = ({ headers }: HttpResponse, name: string) => headers[`access-control-${name}`];
const corsHeaders = (response: HttpResponse) =>
  Object.keys(response.headers).filter((name) => name.includes('access-control-'));
const variesByOrigin = ({ headers }: HttpResponse) => `${headers['vary']}`.split(', ').includes('Origin');

async function allResponses(client: HttpClient, Origin: string | undefined): Promise<HttpResponse[]> {
  await client.post('/products', { name: 'Lamp' });
  const all: HttpResponse[] = [];
  for (const [status, [method, path, body], more = {}] of REQUESTS) {
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
      'Access-Control-Request-Private-Network': 'true',
      ...headers,
    },
  });

describe('CORS', () => {
  describe('without CORS_ORIGINS', () => {
    const service = inProcessService();

    it('is off for every response', async () => {
      for (const Origin of [undefined, SHOP, 'null', '*', ''])
        for (const response of await allResponses(service.client, Origin)) {
          expect(corsHeaders(response)).to.deep.equal([]);
          expect(variesByOrigin(response)).to.equal(false);
        }
    });

    it('treats a preflight as an ordinary OPTIONS request', async () => {
      const response = await preflight(service.client, '/products');
      expect([response.status, response.headers['allow']]).to.deep.equal([204, 'GET, HEAD, POST, OPTIONS']);
      expect(corsHeaders(response)).to.deep.equal([]);
      expect((await preflight(service.client, '/products?colour=red')).status).to.equal(400);
    });
  });

  describe('with listed origins', () => {
    const service = inProcessService({ CORS_ORIGINS: `${SHOP}, http://localhost:3000` });

    it('allows a listed origin to read every response, errors included, and all headers', async () => {
      for (const origin of [SHOP, 'http://localhost:3000'])
        for (const response of await allResponses(service.client, origin)) {
          expect(corsHeader(response, 'allow-origin')).to.equal(origin);
          expect(corsHeader(response, 'expose-headers')).to.equal(EXPOSED_HEADERS);
          expect(corsHeaders(response)).to.have.length(2);
          expect(variesByOrigin(response)).to.equal(true);
        }
    });

    it('allows no other origin, however similar, but always varies by Origin', async () => {
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
      ])
        for (const response of await allResponses(service.client, origin)) {
          expect(corsHeaders(response), origin).to.deep.equal([]);
          expect(variesByOrigin(response)).to.equal(true);
        }
    });

    it('adds Origin to the other values of Vary', async () => {
      const { headers } = await service.get('/products', { headers: { Origin: SHOP } });
      expect(headers['vary']).to.equal('Origin, API-Version, Accept, Prefer, Accept-Encoding');
    });

    it('responds to a preflight with the methods of the path, without a token', async () => {
      for (const [path, methods] of [
        ['/products', 'GET, HEAD, POST, OPTIONS'],
        ['/v1/orders/1', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
        ['/health/ready', 'GET, HEAD, OPTIONS'],
      ] as const) {
        const response = await preflight(service.client, path);
        expect([response.status, response.text, response.headers['allow']]).to.deep.equal([204, '', methods]);
        expect(corsHeader(response, 'allow-origin')).to.equal(SHOP);
        expect(corsHeader(response, 'allow-methods')).to.equal(methods);
        expect(corsHeader(response, 'allow-headers')).to.equal(ALLOWED_HEADERS);
        expect(corsHeader(response, 'max-age')).to.equal('7200');
        expect(corsHeader(response, 'allow-credentials')).to.equal(undefined);
        expect(corsHeader(response, 'allow-private-network')).to.equal(undefined);
      }
      expect((await preflight(service.client, '/products/1')).headers['accept-patch']).to.not.equal(undefined);
    });

    it('allows the headers that a preflight asks for, with those that the service reads', async () => {
      const known = ALLOWED_HEADERS.split(', ');
      const long = `x-${'y'.repeat(8_190)}`;
      const cases: (readonly [requested: string, more: readonly string[]])[] = [
        ['traceparent, baggage,sentry-trace', ['traceparent', 'baggage', 'sentry-trace']],
        ['\tIf-Match ,, X-Own,x-own,', ['X-Own', 'x-own']],
        ["*, !#$%&'*+-.^_`|~09aZ", ['*', "!#$%&'*+-.^_`|~09aZ"]],
        ['', []],
        [long, [long]],
        [`${long}z`, []],
        [`${long},z`, []],
        ['traceparent, a b', []],
        ['traceparent, a:b', []],
        ['traceparent; baggage', []],
        ['traceparent, "baggage"', []],
        ['traceparent, caf\u00e9', []],
      ];
      for (const [requested, more] of cases) {
        const headers = { 'Access-Control-Request-Headers': requested };
        const response = await preflight(service.client, '/products/1', SHOP, 'PATCH', headers);
        expect(response.status, requested).to.equal(204);
        expect(`${corsHeader(response, 'allow-headers')}`.split(', '), requested).to.deep.equal([...known, ...more]);
        expect(response.headers['vary'], requested).to.include('Access-Control-Request-Headers');
      }
    });

    it('ignores the query in a preflight, so that a script can read the error for it', async () => {
      expect((await preflight(service.client, '/products?colour=red', SHOP, 'GET')).status).to.equal(204);
      const headers = { Origin: SHOP };
      const refused = await service.get('/products?colour=red', { headers });
      expect([refused.status, corsHeader(refused, 'allow-origin')]).to.deep.equal([400, SHOP]);
      expect((await service.request('OPTIONS', '/products?colour=red', { headers })).status).to.equal(400);
    });

    it('rejects a preflight for an unknown path with 404, which the script can read', async () => {
      for (const path of ['/getProducts', '/products/', '/products/0']) {
        const response = await expectRefusal(preflight(service.client, path), 'not_found');
        expect(corsHeader(response, 'allow-origin')).to.equal(SHOP);
        expect(corsHeader(response, 'allow-methods')).to.equal(undefined);
      }
    });

    it('treats a preflight from another origin as an ordinary OPTIONS request', async () => {
      const response = await preflight(service.client, '/products', OTHER);
      expect([response.status, corsHeaders(response)]).to.deep.equal([204, []]);
      expect((await preflight(service.client, '/products?colour=red', OTHER)).status).to.equal(400);
    });

    it('is off on the management port', async () => {
      const response = await fetch(`http://127.0.0.1:${service.managementPort}/health/live`, {
        headers: { Origin: SHOP },
      });
      expect(response.headers.get('access-control-allow-origin')).to.equal(null);
    });
  });

  describe('with every origin allowed', () => {
    const service = inProcessService({ CORS_ORIGINS: '*' });

    it('sends *, and never allows credentials', async () => {
      for (const Origin of [SHOP, 'null', undefined])
        for (const response of await allResponses(service.client, Origin)) {
          expect(corsHeader(response, 'allow-origin')).to.equal('*');
          expect(corsHeader(response, 'expose-headers')).to.equal(EXPOSED_HEADERS);
          expect(corsHeaders(response)).to.have.length(2);
          expect(variesByOrigin(response)).to.equal(true);
        }
      const asked = { 'Access-Control-Request-Headers': 'authorization,traceparent' };
      const response = await preflight(service.client, '/products/1', SHOP, 'PATCH', asked);
      expect(corsHeader(response, 'allow-origin')).to.equal('*');
      expect(corsHeader(response, 'allow-headers')).to.equal(`${ALLOWED_HEADERS}, traceparent`);
      expect(response.headers['vary']).to.include('Access-Control-Request-Headers');
      expect(corsHeader(response, 'allow-credentials')).to.equal(undefined);
    });
  });

  describe('and the rate limit', () => {
    const service = inProcessService({ CORS_ORIGINS: SHOP, RATE_LIMIT_REQUESTS: '1' });

    it('lets a script read 429 and Retry-After', async () => {
      const request = () => service.get('/products', { headers: { Origin: SHOP } });
      expect((await request()).status).to.equal(200);
      const over = await request();
      expect([over.status, corsHeader(over, 'allow-origin')]).to.deep.equal([429, SHOP]);
      expect(over.headers['retry-after']).to.match(/^\d+$/);
      expect(corsHeader(over, 'expose-headers')).to.include('Retry-After');
    });
  });

  describe('and failures of the service', () => {
    const service = listService(SHOP);

    it('lets a script read the error', async () => {
      for (const [status, failure] of [
        [500, new Error('a defect')],
        [503, unavailable('The store is gone.')],
      ] as const) {
        service.records.before = () => Promise.reject(failure);
        const response = await service.get('/products', { headers: { Origin: SHOP }, token: null });
        expect([response.status, corsHeader(response, 'allow-origin')]).to.deep.equal([status, SHOP]);
        expect(corsHeader(response, 'expose-headers')).to.equal(EXPOSED_HEADERS);
        expect(variesByOrigin(response)).to.equal(true);
      }
    });
  });

  describe('and plain HTTP behind a proxy', () => {
    const service = inProcessService({ CORS_ORIGINS: SHOP, TLS: 'proxy', TRUSTED_PROXIES: '192.0.2.1' });

    it('lets a script read the 403', async () => {
      const response = await service.get('/products', { headers: { Origin: SHOP } });
      expect([response.status, corsHeader(response, 'allow-origin')]).to.deep.equal([403, SHOP]);
    });
  });
});
