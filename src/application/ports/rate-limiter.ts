import type { MaybePromise } from '../../shared/promises.js';

/** The requests that one caller may make in one window. A window begins with the caller's first request. */
export interface RatePolicy {
  readonly name: string;
  readonly quota: number;
  readonly windowSeconds: number;
}

export interface RateState {
  readonly allowed: boolean;
  /** The rest of the quota. */
  readonly remaining: number;
  /** Whole seconds until the window ends, rounded up. */
  readonly resetSeconds: number;
}

/** A limiter that counts in this process returns a state immediately; one that asks another process, a promise. */
export interface RateLimiter {
  readonly policy: RatePolicy;
  /** Counts one request of the caller. Of any number of concurrent requests exactly the quota is allowed. */
  consume(caller: string): MaybePromise<RateState>;
  /** Returns whether one more request would be allowed, without counting one. */
  peek(caller: string): MaybePromise<RateState>;
}
