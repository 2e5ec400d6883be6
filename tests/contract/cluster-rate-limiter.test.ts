import { expect } from 'chai';
import { RateLimitServer } from '#src/adapters/outbound/cluster/rate-limit-server.js';
import { ClusterRateLimiter, PrimaryChannel } from '#src/adapters/outbound/cluster/rate-limiter.js';
import { MemoryRateLimiter } from '#src/adapters/outbound/memory/rate-limiter.js';
import { SystemClock } from '#src/adapters/outbound/system/clock.js';
import type { RatePolicy } from '#src/application/ports/rate-limiter.js';
import { expectAppError } from '../support/expect-refusal.js';
import { JoinedChannels } from './joined-channels.js';
import { rateLimiterContract } from './rate-limiter.contract.js';

const POLICY: RatePolicy = { name: 'default', quota: 20, windowSeconds: 60 };

function primaryOf(...policies: RatePolicy[]): () => JoinedChannels {
  const server = new RateLimitServer(
    policies.map((policy) => new MemoryRateLimiter(policy, new SystemClock())),
  );
  return () => {
    const channels = new JoinedChannels();
    server.serve(channels.primary);
    return channels;
  };
}

rateLimiterContract('the workers of a cluster', (policy) => {
  return new ClusterRateLimiter(policy, new PrimaryChannel(primaryOf(policy)().worker));
});

describe('the rate limiter of a cluster', () => {
  it('counts exactly across concurrent workers', async () => {
    const connect = primaryOf(POLICY);
    const workers = Array.from(
      { length: 4 },
      () => new ClusterRateLimiter(POLICY, new PrimaryChannel(connect().worker)),
    );
    const states = await Promise.all(
      Array.from({ length: 200 }, (_, i) => workers[i % 4]?.consume('a') ?? Promise.reject()),
    );
    expect(states.filter(({ allowed }) => allowed)).to.have.length(POLICY.quota);
    const seen = new Set(states.filter(({ allowed }) => allowed).map(({ remaining }) => remaining));
    expect(seen.size, 'no count is returned twice').to.equal(POLICY.quota);
  });

  it('separates the counts of two policies on one channel', async () => {
    const other = { ...POLICY, name: 'auth', quota: 1 };
    const channel = new PrimaryChannel(primaryOf(POLICY, other)().worker);
    const [requests, failures] = [
      new ClusterRateLimiter(POLICY, channel),
      new ClusterRateLimiter(other, channel),
    ];
    await failures.consume('a');
    expect((await failures.peek('a')).allowed).to.equal(false);
    expect((await requests.consume('a')).remaining).to.equal(19);
  });

  it('sends the requests of one turn of the event loop as one message', async () => {
    const channels = primaryOf(POLICY)();
    const limiter = new ClusterRateLimiter(POLICY, new PrimaryChannel(channels.worker));
    await Promise.all(Array.from({ length: 50 }, () => limiter.consume('a')));
    expect(channels.delivered).to.equal(2);
  });

  it('is unavailable if the primary does not respond in time, and ignores the late response', async () => {
    const channels = primaryOf(POLICY)();
    const limiter = new ClusterRateLimiter(POLICY, new PrimaryChannel(channels.worker, 20));
    channels.hold();
    await expectAppError(limiter.consume('a'), 'unavailable');
    channels.release();
    expect((await limiter.consume('a')).remaining, 'the late request was counted').to.equal(18);
  });

  it('is unavailable for a policy that the primary does not know', async () => {
    const channel = new PrimaryChannel(primaryOf()().worker);
    await expectAppError(new ClusterRateLimiter(POLICY, channel).peek('a'), 'unavailable');
  });
});
