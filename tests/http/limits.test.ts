import { expect } from 'chai';
import { ChecksummedApiKey } from '#src/adapters/outbound/tokens/api-key-format.js';
import { inProcessService } from '../support/in-process-service.js';

describe('the rate limit', () => {
  const service = inProcessService({ RATE_LIMIT_REQUESTS: '10', RATE_LIMIT_WINDOW_SECONDS: '600' });
  const ask = () => service.client;

  it('is told on every answer, and is exact under concurrency', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => ask().get(i % 2 ? '/products' : '/products/5')),
    );
    for (const answer of answers) {
      expect(answer.headers['ratelimit-policy']).to.equal('"default";q=10;w=600');
      expect(answer.headers['ratelimit']).to.match(/^"default";r=\d;t=\d+$/);
    }
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).to.have.length(20);
    for (const answer of refused) {
      expect([answer.json.code, answer.json.details]).to.deep.equal(['rate_limited', []]);
      expect(Number(answer.headers['retry-after'])).to.be.within(590, 600);
      expect(answer.headers['ratelimit']).to.match(/^"default";r=0;t=(59\d|600)$/);
      expect(answer.headers['cache-control']).to.equal('no-store');
    }
    const left = answers.filter(({ status }) => status !== 429).map(({ headers }) => headers['ratelimit']);
    expect(new Set(left.map((text) => /r=(\d)/.exec(String(text))?.[1]))).to.have.length(10);
  });

  it('counts the address where nobody is known: without a token, at unknown paths, for OPTIONS', async () => {
    for (let i = 0; i < 10; i++) {
      const [method, path] =
        [
          ['GET', '/products'],
          ['GET', '/nowhere'],
          ['OPTIONS', '/products'],
          ['GET', '/products/0'],
        ][i % 4] ?? [];
      const answer = await ask().request(String(method), String(path), { token: null });
      expect(answer.headers['ratelimit']).to.match(new RegExp(`^"default";r=${9 - i};`));
    }
    for (const path of ['/products', '/nowhere']) {
      expect((await ask().get(path, { token: null })).status, path).to.equal(429);
    }
  });

  it('leaves health alone', async () => {
    for (let i = 0; i < 20; i++) {
      const answer = await ask().get('/health/live', { token: null });
      expect([answer.status, answer.headers['ratelimit']]).to.deep.equal([200, undefined]);
    }
  });
});

describe('failed authentications', () => {
  const service = inProcessService();
  const ask = () => service.client;
  const wrong = (token = new ChecksummedApiKey().generate()) => ask().get('/products', { token });

  it('are told apart 20 times a minute, then refused unseen, but for who was known before', async () => {
    expect((await ask().get('/products')).status).to.equal(200);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => (i % 2 ? wrong() : wrong('nonsense'))),
    );
    expect(answers.filter(({ status }) => status === 401)).to.have.length(20);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).to.have.length(30);
    for (const answer of refused) {
      expect(answer.json.code).to.equal('rate_limited');
      expect(answer.headers['ratelimit-policy']).to.equal('"auth";q=20;w=60');
      expect(answer.headers['ratelimit']).to.match(/^"auth";r=0;t=\d+$/);
      expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
    }
    expect((await ask().get('/products')).status, 'a credential that was good lately').to.equal(200);
    expect((await ask().get('/products', { token: null })).status, 'no token at all').to.equal(401);
  });
});
