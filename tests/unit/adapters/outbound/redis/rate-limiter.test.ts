import { expect } from 'chai';
import { RedisConnection } from '#src/adapters/outbound/redis/connection.js';
import { RedisRateLimiter } from '#src/adapters/outbound/redis/rate-limiter.js';
import { ReplyGuard } from '#src/adapters/outbound/redis/reply-guard.js';
import { expectAppError } from '../../../../support/expect-refusal.js';
import { FakeRedis } from '../../../../support/fake-redis.js';
import { RecordingLogger } from '../../../../support/fakes.js';
import { until } from '../../../../support/until.js';

describe('RedisRateLimiter', () => {
  let redis: FakeRedis;
  let connection: RedisConnection;
  let limiter: RedisRateLimiter;

  beforeEach(async () => {
    redis = new FakeRedis();
    await redis.listen();
    connection = new RedisConnection(redis.url, new RecordingLogger());
    limiter = new RedisRateLimiter({ name: 'default', quota: 5, windowSeconds: 60 }, connection);
    await until('Redis is connected to', () => connection.client.status === 'ready');
  });
  afterEach(async () => {
    connection.close();
    await redis.close();
  });

  it('sends no further command after one that failed', async () => {
    let commands = 0;
    redis.override = (name) => {
      if (!name.startsWith('eval')) return undefined;
      commands++;
      return '-ERR no\r\n';
    };
    for (const caller of ['a', 'b', 'c']) await expectAppError(limiter.consume(caller), 'unavailable');
    expect(commands).to.equal(1);
  });

  it('lets a window end after its length if it has longer to go, as after a clock was set back', async () => {
    redis.override = (name) => {
      if (name === 'pexpire') return ':1\r\n';
      return name.startsWith('eval') ? '*2\r\n:1\r\n:86400000\r\n' : undefined;
    };
    expect(await limiter.consume('a')).to.deep.equal({ allowed: true, remaining: 4, resetSeconds: 60 });
    expect([...redis.received]).to.include('pexpire');
  });
});

describe('ReplyGuard', () => {
  it('rejects a reply that announces more than it may have, before the rest arrives', () => {
    for (const head of ['$9999999999\r\n', '*30000000\r\n', '%15000000\r\n'])
      expect(() => new ReplyGuard().check(Buffer.from(head)), head).to.throw('a reply is over');
  });
});
