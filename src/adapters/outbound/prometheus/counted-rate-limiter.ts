import type { RateLimiter, RatePolicy, RateState } from '../../../application/ports/rate-limiter.js';
import { andThen, type MaybePromise } from '../../../shared/maybe-promise.js';
import type { Sample } from './definitions.js';

/** Counts the decisions of a rate limiter. */
export class CountedRateLimiter implements RateLimiter {
  readonly policy: RatePolicy;
  private allowed = 0;
  private limited = 0;

  constructor(private readonly limiter: RateLimiter) {
    this.policy = limiter.policy;
  }

  consume(caller: string): MaybePromise<RateState> {
    return andThen(this.limiter.consume(caller), this.count);
  }

  /** Counts only a refusal: a caller that is not refused here is counted when it consumes. */
  peek(caller: string): MaybePromise<RateState> {
    return andThen(this.limiter.peek(caller), (state) => (state.allowed ? state : this.count(state)));
  }

  decisions(): Sample<'rate_limit_decisions_total'>[] {
    const { policy, allowed, limited } = this;
    return [
      { labels: { policy: policy.name, decision: 'allowed' }, value: allowed },
      { labels: { policy: policy.name, decision: 'limited' }, value: limited },
    ];
  }

  private readonly count = (state: RateState): RateState => {
    if (state.allowed) this.allowed++;
    else this.limited++;
    return state;
  };
}
