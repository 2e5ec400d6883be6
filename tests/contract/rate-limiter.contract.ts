import { expect } from 'chai';
import type { RateLimiter, RatePolicy } from '#src/application/ports/rate-limiter.js';

const POLICY: RatePolicy = { name: 'test', quota: 5, windowSeconds: 60 };

/**
 * The tests that every rate limiter passes.
 * @param pass lets this time pass for the limiters
 */
export function rateLimiterContract(
  adapter: string,
  make: (policy: RatePolicy) => RateLimiter,
  pass: (ms: number) => void | Promise<void>,
): void {
  describe(`the rate limiter contract on ${adapter}`, () => {
    let limiter: RateLimiter;

    beforeEach(() => (limiter = make(POLICY)));

    it('allows the quota and no more', async () => {
      const states = [];
      for (let i = 0; i < 7; i++) states.push(await limiter.consume('a'));
      expect(states.map(({ allowed }) => allowed)).to.deep.equal([true, true, true, true, true, false, false]);
      expect(states.map(({ remaining }) => remaining)).to.deep.equal([4, 3, 2, 1, 0, 0, 0]);
      for (const { resetSeconds } of states) expect(resetSeconds).to.be.within(1, POLICY.windowSeconds);
    });

    it('allows exactly the quota to concurrent requests', async () => {
      const states = await Promise.all(Array.from({ length: 100 }, () => limiter.consume('a')));
      expect(states.filter(({ allowed }) => allowed)).to.have.length(POLICY.quota);
    });

    it('counts each caller separately', async () => {
      for (let i = 0; i < 6; i++) await limiter.consume('a');
      expect((await limiter.consume('b')).allowed).to.equal(true);
    });

    it('peeks without counting', async () => {
      expect(await limiter.peek('a')).to.deep.equal({ allowed: true, remaining: 5, resetSeconds: 60 });
      for (let i = 0; i < 4; i++) await limiter.consume('a');
      expect((await limiter.peek('a')).allowed).to.equal(true);
      expect((await limiter.peek('a')).remaining).to.equal(1);
      await limiter.consume('a');
      expect((await limiter.peek('a')).allowed).to.equal(false);
    });

    it('starts a new window after the old one', async () => {
      const short = make({ ...POLICY, windowSeconds: 1 });
      for (let i = 0; i < 6; i++) await short.consume('a');
      await pass(1_100);
      expect(await short.consume('a')).to.deep.equal({ allowed: true, remaining: 4, resetSeconds: 1 });
    });

    it('returns the seconds until the end of the window', async () => {
      const long = make({ name: 'long', quota: 1, windowSeconds: 60 });
      expect(await long.consume('a')).to.deep.equal({ allowed: true, remaining: 0, resetSeconds: 60 });
    });
  });
}
