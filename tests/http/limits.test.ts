import { expect } from 'chai';
import { newApiKey } from '#src/adapters/outbound/system/random.js';
import { inProcessService } from '../support/in-process-service.js';

describe('the rate limit', () => {
  const service = inProcessService({ RATE_LIMIT_REQUESTS: '10', RATE_LIMIT_WINDOW_SECONDS: '600' });

  it('is in the headers of every response, and is exact under concurrency', async () => {
    const responses = await Promise.all(
      Array.from({ length: 30 }, (_, i) => service.get(i % 2 ? '/products' : '/products/5')),
    );
    for (const response of responses) {
      expect(response.headers['ratelimit-policy']).to.equal('"default";q=10;w=600');
      expect(response.headers['ratelimit']).to.match(/^"default";r=\d;t=\d+$/);
    }
    const refused = responses.filter(({ status }) => status === 429);
    expect(refused).to.have.length(20);
    for (const response of refused) {
      expect([response.json.code, response.json.details]).to.deep.equal(['rate_limited', []]);
      expect(Number(response.headers['retry-after'])).to.be.within(590, 600);
      expect(response.headers['ratelimit']).to.match(/^"default";r=0;t=(59\d|600)$/);
      expect(response.headers['cache-control']).to.equal('no-store');
    }
    const left = responses.filter(({ status }) => status !== 429).map(({ headers }) => headers['ratelimit']);
    expect(new Set(left.map((text) => /r=(\d)/.exec(String(text))?.[1]))).to.have.length(10);
  });

  it('counts by IP address without a token, for unknown paths and for OPTIONS', async () => {
    for (let i = 0; i < 10; i++) {
      const line = ['GET /products', 'GET /nowhere', 'OPTIONS /products', 'GET /products/0'][i % 4];
      const [method, path] = line?.split(' ') ?? [];
      const response = await service.request(String(method), String(path), { token: null });
      expect(response.headers['ratelimit']).to.match(new RegExp(`^"default";r=${9 - i};`));
    }
    for (const path of ['/products', '/nowhere'])
      expect((await service.get(path, { token: null })).status, path).to.equal(429);
  });

  it('does not apply to health checks', async () => {
    for (let i = 0; i < 20; i++) {
      const response = await service.get('/health/live', { token: null });
      expect([response.status, response.headers['ratelimit']]).to.deep.equal([200, undefined]);
      const absent = await service.get('/health/absent', { token: null });
      expect([absent.status, absent.headers['ratelimit']]).to.deep.equal([404, undefined]);
    }
  });
});

describe('failed authentications', () => {
  const service = inProcessService();
  const wrong = (token = newApiKey()) => service.get('/products', { token });

  it('get 429 after 20 a minute, except for recently valid credentials', async () => {
    expect((await service.get('/products')).status).to.equal(200);
    const responses = await Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 ? wrong() : wrong('nonsense'))));
    expect(responses.filter(({ status }) => status === 401)).to.have.length(20);
    const refused = responses.filter(({ status }) => status === 429);
    expect(refused).to.have.length(30);
    for (const response of refused) {
      expect(response.json.code).to.equal('rate_limited');
      expect(response.headers['ratelimit-policy']).to.equal('"auth";q=20;w=60');
      expect(response.headers['ratelimit']).to.match(/^"auth";r=0;t=\d+$/);
      expect(Number(response.headers['retry-after'])).to.be.within(1, 60);
    }
    expect((await service.get('/products')).status, 'a recently valid credential').to.equal(200);
    expect((await service.get('/products', { token: null })).status, 'no token at all').to.equal(401);
  });
});
