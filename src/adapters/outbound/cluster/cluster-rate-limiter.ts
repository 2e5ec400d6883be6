import type { RateLimiter, RatePolicy, RateState } from '../../../application/ports/rate-limiter.js';
import type { LineToPrimary } from './line-to-primary.js';

/** Limits the callers of all workers of this machine together: the primary counts, this asks it. */
export class ClusterRateLimiter implements RateLimiter {
  /** @param policy one that the primary counts under this name, too */
  constructor(
    readonly policy: RatePolicy,
    private readonly primary: LineToPrimary,
  ) {}

  /** @throws CatalogueError `unavailable` where the primary does not answer in time */
  consume(caller: string): Promise<RateState> {
    return this.primary.ask([this.policy.name, 'consume', caller]);
  }

  /** @throws CatalogueError `unavailable` where the primary does not answer in time */
  peek(caller: string): Promise<RateState> {
    return this.primary.ask([this.policy.name, 'peek', caller]);
  }
}
