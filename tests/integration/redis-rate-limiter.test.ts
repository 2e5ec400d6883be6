import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { RedisConnection } from '#src/adapters/outbound/redis/connection.js';
import { RedisRateLimiter } from '#src/adapters/outbound/redis/rate-limiter.js';
import type { RatePolicy } from '#src/application/ports/rate-limiter.js';
import { AppError } from '#src/domain/errors.js';
import { rateLimiterContract } from '../contract/rate-limiter.contract.js';
import { RecordingLogger } from '../support/fakes.js';
import { figuresOf } from '../support/figure.js';
import { until } from '../support/until.js';

const REPLICAS = 4;
const NO_REDIS =
  'REDIS_URL is not set. Start a Redis with: redis-server --port 7379 --save "" & and set REDIS_URL=redis://127.0.0.1:7379';

/** Returns a policy with a new name, because Redis still has the counts of the last run. */
const fresh = (policy: RatePolicy) => ({ ...policy, name: `${policy.name}-${randomUUID()}` });

const figure = figuresOf('redis-rate-limiter');

/** No reply is late, however slow the machine is. */
const PATIENT = { slotMs: 3_600_000, replyMs: 3_600_000 };

/** Waits until Redis responds. */
const untilReady = (connection: RedisConnection): Promise<void> =>
  until('Redis responds', () => connection.send(() => connection.client.ping()));

describe('Redis', () => {
  const connections: RedisConnection[] = [];

  before(async () => {
    const { REDIS_URL: url } = process.env;
    if (!url) throw new Error(NO_REDIS);
    for (let i = 0; i < REPLICAS; i++) connections.push(new RedisConnection(url, new RecordingLogger(), PATIENT));
  });
  beforeEach(() => Promise.all(connections.map(untilReady)));
  after(() => {
    for (const connection of connections) connection.close();
  });

  const replicas = (policy: RatePolicy) => {
    const shared = fresh(policy);
    return connections.map((connection) => new RedisRateLimiter(shared, connection));
  };
  const first = (policy: RatePolicy) => {
    const [limiter] = replicas(policy);
    if (!limiter) throw new Error(NO_REDIS);
    return limiter;
  };
  /** Counts the attempts that were allowed, refused, or failed as unavailable. */
  const tally = async (attempts: Promise<{ allowed: boolean }>[]) => {
    const counts = { allowed: 0, refused: 0, unavailable: 0 };
    for (const outcome of await Promise.allSettled(attempts)) {
      if (outcome.status === 'fulfilled') counts[outcome.value.allowed ? 'allowed' : 'refused']++;
      else if (outcome.reason instanceof AppError && outcome.reason.code === 'unavailable') counts.unavailable++;
      else throw outcome.reason;
    }
    return counts;
  };

  rateLimiterContract('Redis', first, sleep);

  it('admits exactly one quota for many replicas', async () => {
    const limiters = replicas({ name: 'many', quota: 50, windowSeconds: 60 });
    const attempts = Array.from({ length: 50 }, async (_, i) => {
      await sleep((7 * i) % 20);
      return Promise.all(limiters.map((limiter) => limiter.consume('a')));
    });
    const states = (await Promise.all(attempts)).flat();
    expect(states).to.have.length(200);
    expect(states.filter(({ allowed }) => allowed)).to.have.length(50);
    const left = states.filter(({ allowed }) => allowed).map(({ remaining }) => remaining);
    expect(new Set(left), 'each gets another remainder').to.have.length(50);
    for (const limiter of limiters) expect((await limiter.peek('a')).allowed).to.equal(false);
  });

  it('counts 20,000 concurrent requests of one caller exactly', async () => {
    const limiters = replicas({ name: 'flood', quota: 600, windowSeconds: 60 });
    const each = { length: 20_000 / REPLICAS };
    const attempts = limiters.flatMap((limiter) => Array.from(each, () => limiter.consume('a')));
    expect(await tally(attempts)).to.deep.equal({ allowed: 600, refused: 19_400, unavailable: 0 });
  });

  it('responds to 20,000 concurrent callers or fails, and continues', async () => {
    const limiter = first({ name: 'crowd', quota: 1, windowSeconds: 60 });
    const counts = await tally(Array.from({ length: 20_000 }, (_, i) => limiter.consume(`${i}`)));
    expect(counts.refused).to.equal(0);
    figure('allowed of 20,000 concurrent callers', counts.allowed);
    await until('another caller is allowed', async () => (await limiter.consume('another')).allowed);
  });

  it('counts each policy separately', async () => {
    const [requests, failures] = ['default', 'auth'].map((name) => first({ name, quota: 1, windowSeconds: 60 }));
    expect((await requests?.consume('a'))?.allowed).to.equal(true);
    expect((await failures?.consume('a'))?.allowed).to.equal(true);
    expect((await requests?.consume('a'))?.allowed).to.equal(false);
    const keys = await connections[0]?.client.keys(`catalogue:rate:${requests?.policy.name}:*`);
    expect(keys).to.deep.equal([`catalogue:rate:${requests?.policy.name}:a`]);
  });

  it('forgets a caller after the window', async () => {
    const limiter = first({ name: 'gone', quota: 1, windowSeconds: 1 });
    await Promise.all([limiter.consume('a'), limiter.consume('a')]);
    await until('Redis has no key of it', async () => {
      const keys = await connections[0]?.client.keys(`catalogue:rate:${limiter.policy.name}*`);
      return keys?.length === 0;
    });
  });
});
