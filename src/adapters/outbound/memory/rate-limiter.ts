import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { RateLimiter, RatePolicy, RateState } from '../../../application/ports/rate-limiter.js';

/** Limits the callers of one process. */
export class MemoryRateLimiter implements RateLimiter {
  private readonly limiter: RateLimiterMemory;

  constructor(readonly policy: RatePolicy) {
    this.limiter = new RateLimiterMemory({ points: policy.quota, duration: policy.windowSeconds });
  }

  async consume(caller: string): Promise<RateState> {
    try {
      return this.state(await this.limiter.consume(caller), true);
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes) return this.state(refusal, false);
      throw refusal;
    }
  }

  async peek(caller: string): Promise<RateState> {
    const { quota, windowSeconds } = this.policy;
    const now = await this.limiter.get(caller);
    if (!now) return { allowed: true, remaining: quota, resetSeconds: windowSeconds };
    return this.state(now, now.consumedPoints < quota);
  }

  private state(now: RateLimiterRes, allowed: boolean): RateState {
    // The library uses the wall clock. Setting the clock back must not make anyone wait longer than one window.
    const seconds = Math.min(Math.ceil(now.msBeforeNext / 1000), this.policy.windowSeconds);
    return { allowed, remaining: Math.max(0, now.remainingPoints), resetSeconds: Math.max(1, seconds) };
  }
}
