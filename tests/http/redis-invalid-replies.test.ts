import { expect } from 'chai';
import { FakeRedis } from '../support/fake-redis.js';
import { inProcessService } from '../support/in-process-service.js';
import { until } from '../support/until.js';

const INVALID_REPLIES: readonly (readonly [title: string, reply: string])[] = [
  ['a count that is not a number', '*2\r\n$4\r\nmany\r\n:60000\r\n'],
  ['a count that is NaN', '*2\r\n$3\r\nNaN\r\n$3\r\nNaN\r\n'],
  ['a negative count', '*2\r\n:-7\r\n:60000\r\n'],
  ['a negative remaining time', '*2\r\n:1\r\n:-60000\r\n'],
  ['a string with a length of gigabytes', '$9999999999\r\n'],
  ['an array with 30 million elements', '*30000000\r\n'],
  ['null', '_\r\n'],
];

for (const [title, reply] of INVALID_REPLIES) {
  describe(`a service whose Redis replies with ${title}`, () => {
    const redis = new FakeRedis();
    before(() => redis.listen());
    const service = inProcessService({
      RATE_LIMITER: 'redis',
      RATE_LIMIT_REQUESTS: '5',
      get REDIS_URL() {
        return redis.url;
      },
    });
    after(() => redis.close());

    it('falls back to its own limiter, with valid headers, for any client', async () => {
      // Requests that arrive before the connection is ready are counted by the service itself. These are of an address.
      await until('a request is counted by Redis', async () => {
        await service.client.get('/v1/products', { token: null });
        return [...redis.received].some((name) => /^(eval|exec)/.test(name));
      });
      redis.override = (name) => (/^(eval|exec)/.test(name) ? reply : undefined);
      const statuses = [];
      const remaining = [];
      for (let i = 0; i < 7; i++) {
        const { status, headers } = await service.client.get('/v1/products');
        statuses.push(status);
        remaining.push(
          Number(/^"default";r=(\d+);t=([1-9]|[1-5]\d|60)$/.exec(`${headers['ratelimit']}`)?.[1]),
        );
        if (status === 429) expect(headers['retry-after']).to.match(/^([1-9]|[1-5]\d|60)$/);
        expect(JSON.stringify(headers)).to.not.include('NaN');
      }
      expect(statuses.filter((status) => status === 200)).to.have.length(5);
      expect(new Set(statuses.slice(5))).to.deep.equal(new Set([429]));
      expect(remaining.slice(-2)).to.deep.equal([0, 0]);
      const { status, headers } = await service.client.get('/v1/products', { token: 'x' });
      expect([status, JSON.stringify(headers).includes('NaN')]).to.deep.equal([401, false]);
    });
  });
}
