import { expect } from 'chai';
import { FallbackRateLimiter } from '#src/adapters/outbound/redis/rate-limiter.js';
import type { Metrics } from '#src/application/ports/metrics.js';
import type { RateLimiter, RateState } from '#src/application/ports/rate-limiter.js';
import { type AppError, notFound, unavailable } from '#src/domain/errors.js';

const POLICY = { name: 'test', quota: 3, windowSeconds: 60 };

class CountingMetrics implements Metrics {
  readonly counts: string[] = [];

  increment = (counter: string, _label?: string) => void this.counts.push(counter);
}

/** Counts all callers as one, and throws `failure` while it is set. */
class FakeLimiter implements RateLimiter {
  readonly policy = POLICY;
  failure: Error | undefined;
  consumed = 0;

  consume = async () => {
    await Promise.resolve();
    if (this.failure) throw this.failure;
    return this.state(++this.consumed <= POLICY.quota);
  };
  peek = async () => {
    if (this.failure) throw this.failure;
    return this.state(this.consumed < POLICY.quota);
  };

  private state(allowed: boolean): RateState {
    return { allowed, remaining: Math.max(0, POLICY.quota - this.consumed), resetSeconds: 60 };
  }
}

describe('FallbackRateLimiter', () => {
  let shared: FakeLimiter;
  let locals: FakeLimiter[];
  let metrics: CountingMetrics;
  let limiter: FallbackRateLimiter;
  const gone: AppError = unavailable('gone');

  beforeEach(() => {
    shared = new FakeLimiter();
    locals = [];
    metrics = new CountingMetrics();
    const makeLocal = () => {
      const local = new FakeLimiter();
      locals.push(local);
      return local;
    };
    limiter = new FallbackRateLimiter({ shared, makeLocal, metrics });
  });

  const remaining = async () => (await limiter.consume('a')).remaining;
  /** During an outage the shared limiter is not read. */
  const expectOutage = async () => {
    shared.peek = () => Promise.reject(new Error('it was read'));
    await limiter.peek('a');
  };

  it('grants one full quota per window, even if outages follow one another', async () => {
    await remaining();
    shared.failure = gone;
    const allowed = async () => (await limiter.consume('a')).allowed;
    expect([await allowed(), await allowed()]).to.deep.equal([true, true]);
    shared.failure = undefined;
    await remaining();
    shared.failure = gone;
    expect([await allowed(), await allowed()]).to.deep.equal([true, false]);
    expect(locals).to.have.length(1);
    expect(shared.consumed, 'the shared count is unchanged').to.equal(2);
  });

  it('does not end an outage for a response from an earlier one', async () => {
    shared.failure = gone;
    await remaining();
    shared.failure = undefined;
    const { consume } = shared;
    let respond = (_state: RateState) => {};
    shared.consume = () => new Promise((resolve) => (respond = resolve));
    const early = limiter.consume('a');
    shared.consume = consume;
    await remaining();
    shared.failure = gone;
    await limiter.peek('a');
    respond({ allowed: true, remaining: 1, resetSeconds: 60 });
    await early;
    await expectOutage();
  });

  it('counts each request that is limited locally, but not a peek', async () => {
    shared.failure = gone;
    await limiter.peek('a');
    for (let i = 0; i < 5; i++) await remaining();
    expect(metrics.counts).to.deep.equal(Array(5).fill('rate_limiter_fallback_total'));
  });

  it('does not end the outage for a response from before it', async () => {
    const early = limiter.consume('a');
    shared.peek = () => Promise.reject(gone);
    const late = limiter.peek('a');
    await Promise.all([early, late]);
    await limiter.peek('a');
    expect(locals).to.have.length(1);
    await expectOutage();
  });

  it('keeps limiting locally if the shared limiter can be read but not written', async () => {
    shared.consume = () => Promise.reject(gone);
    for (let i = 0; i < 3; i++) {
      expect((await limiter.peek('a')).allowed).to.equal(true);
      await remaining();
    }
    expect((await limiter.peek('a')).allowed).to.equal(false);
    expect(locals).to.have.length(1);
  });

  it('passes on any other error', async () => {
    for (const failure of [
      new TypeError('a defect'),
      Object.assign(new Error(), { code: 'unavailable' }),
      notFound(),
    ]) {
      shared.failure = failure;
      for (const attempt of [limiter.consume('a'), limiter.peek('a')]) {
        const outcome = await attempt.catch((error: unknown) => error);
        expect(outcome).to.equal(failure);
      }
    }
    expect(locals).to.have.length(0);
  });
});
