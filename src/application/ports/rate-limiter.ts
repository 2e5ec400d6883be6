/** How many requests one caller may make in one window; a window begins with the caller's first request. */
export interface RatePolicy {
  readonly name: string;
  readonly quota: number;
  readonly windowSeconds: number;
}

export interface RateState {
  readonly allowed: boolean;
  /** What is left of the quota. */
  readonly remaining: number;
  /** Whole seconds until the window ends, rounded up. */
  readonly resetSeconds: number;
}

export interface RateLimiter {
  readonly policy: RatePolicy;
  /** Counts one request of this caller. Of any number that arrive at once, exactly the quota is allowed. */
  consume(caller: string): Promise<RateState>;
  /** Looks without counting: would one more be allowed? */
  peek(caller: string): Promise<RateState>;
}
