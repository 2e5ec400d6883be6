import { expect } from 'chai';
import { MemoryRateLimiter } from '#src/adapters/outbound/memory/rate-limiter.js';
import { FakeClock } from '../../../../support/fakes.js';

const POLICY = { name: 'test', quota: 2, windowSeconds: 60 };
const WINDOW_MS = 60_000;
const MAX_WINDOWS = 1_000;

describe('MemoryRateLimiter', () => {
  let clock: FakeClock;
  let limiter: MemoryRateLimiter;

  beforeEach(() => {
    clock = new FakeClock(undefined, 1_234.5);
    limiter = new MemoryRateLimiter(POLICY, clock);
  });

  const consume = (caller: string) => limiter.consume(caller);
  const size = () => limiter['recent'].size + limiter['earlier'].size;

  it('is independent of the time of day', () => {
    for (let i = 0; i < 3; i++) consume('a');
    clock.time += 10 * WINDOW_MS;
    expect(consume('a')).to.deep.equal({ allowed: false, remaining: 0, resetSeconds: 60 });
  });

  it('forgets ended windows', () => {
    for (let i = 0; i < 1_000; i++) consume(`${i}`);
    for (let window = 0; window < 2; window++) {
      clock.running += WINDOW_MS;
      consume('a');
    }
    expect(size()).to.equal(2);
  });

  it('counts a caller exactly beside as many others as it keeps, and keeps no more', () => {
    limiter = new MemoryRateLimiter(POLICY, clock, MAX_WINDOWS);
    for (let i = 0; i < 3; i++) consume('a');
    for (let i = 1; i < MAX_WINDOWS; i++) consume(`early ${i}`);
    for (let i = 0; i < MAX_WINDOWS; i++) consume(`late ${i}`);
    expect(consume('a').allowed).to.equal(false);
    for (let i = 0; i < 3 * MAX_WINDOWS; i++) consume(`later ${i}`);
    expect(size()).to.equal(2 * MAX_WINDOWS);
  });

  it('counts as a list of all requests would', () => {
    let seed = 1;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const windows = new Map<string, { start: number; count: number }>();
    for (let i = 0; i < 20_000; i++) {
      clock.running += random(16_000) / 2;
      const caller = `${random(5)}`;
      const known = windows.get(caller);
      const window = known && clock.running - known.start < WINDOW_MS ? known : { start: clock.running, count: 0 };
      windows.set(caller, window);
      window.count++;
      const { count, start } = window;
      const state = {
        remaining: Math.max(0, POLICY.quota - count),
        resetSeconds: Math.ceil((start + WINDOW_MS - clock.running) / 1_000),
      };
      expect(consume(caller)).to.deep.equal({ allowed: count <= POLICY.quota, ...state });
      expect(limiter.peek(caller)).to.deep.equal({ allowed: count < POLICY.quota, ...state });
    }
  });
});
