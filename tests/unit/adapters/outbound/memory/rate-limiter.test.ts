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

  it('begins the window of each caller with its first request, and ends it exactly then', () => {
    for (const [at, caller] of [
      [0, 'a'],
      [59_000, 'b'],
    ] as const) {
      clock.running = at;
      for (let i = 0; i < 3; i++) consume(caller);
    }
    clock.running = WINDOW_MS - 1;
    expect(consume('a')).to.deep.equal({ allowed: false, remaining: 0, resetSeconds: 1 });
    clock.running = WINDOW_MS;
    expect(consume('a')).to.deep.equal({ allowed: true, remaining: 1, resetSeconds: 60 });
    expect(consume('b')).to.deep.equal({ allowed: false, remaining: 0, resetSeconds: 59 });
    clock.running = 59_000 + WINDOW_MS - 1;
    expect(limiter.peek('b').allowed).to.equal(false);
    clock.running++;
    expect(limiter.peek('b')).to.deep.equal({ allowed: true, remaining: 2, resetSeconds: 60 });
  });

  it('rounds the seconds until the end of the window up', () => {
    consume('a');
    for (const [elapsed, seconds] of [
      [0.1, 60],
      [999.9, 60],
      [1_000, 59],
      [59_999.9, 1],
    ] as const) {
      clock.running = 1_234.5 + elapsed;
      expect(limiter.peek('a').resetSeconds, `${elapsed}`).to.equal(seconds);
    }
  });

  it('does not allow another request by a peek once the quota is used', () => {
    const states = [];
    for (let i = 0; i < 3; i++) {
      consume('a');
      states.push(limiter.peek('a'));
    }
    expect(states.map(({ allowed, remaining }) => [allowed, remaining])).to.deep.equal([
      [true, 1],
      [false, 0],
      [false, 0],
    ]);
  });

  it('tells the time that is left of a window', () => {
    expect(limiter.currentWindow('a')).to.equal(undefined);
    const window = limiter.window('a');
    expect(limiter.currentWindow('a')).to.equal(window);
    expect(window.count).to.equal(0);
    clock.running += 10_000;
    expect(limiter.msLeft(window)).to.equal(WINDOW_MS - 10_000);
    clock.running += WINDOW_MS;
    expect(limiter.msLeft(window)).to.equal(0);
    expect(limiter.currentWindow('a')).to.equal(undefined);
  });

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
      clock.running += random(8_000);
      const caller = `${random(5)}`;
      const known = windows.get(caller);
      const window = known && clock.running - known.start < WINDOW_MS ? known : { start: clock.running, count: 0 };
      windows.set(caller, window);
      window.count++;
      expect(consume(caller)).to.deep.equal({
        allowed: window.count <= POLICY.quota,
        remaining: Math.max(0, POLICY.quota - window.count),
        resetSeconds: Math.ceil((window.start + WINDOW_MS - clock.running) / 1_000),
      });
    }
  });
});
