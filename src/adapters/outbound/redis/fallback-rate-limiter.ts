import type { Journal } from '../../../application/ports/journal.js';
import type { Metrics } from '../../../application/ports/metrics.js';
import type { RateLimiter, RatePolicy, RateState } from '../../../application/ports/rate-limiter.js';
import { CatalogueError } from '../../../domain/errors.js';

export interface FallbackDependencies {
  /** Counts for all processes together; says `unavailable` where it cannot count in time. */
  readonly shared: RateLimiter;
  /** A limiter of this process alone, which has counted nothing yet. */
  readonly makeLocal: () => RateLimiter;
  readonly metrics: Metrics;
  readonly journal: Journal;
}

/**
 * Limits together with the other processes while the shared limiter answers, and alone while it does not. An outage
 * begins with the first answer that is missing, and ends with the first request that the shared limiter counts again.
 */
export class FallbackRateLimiter implements RateLimiter {
  /** Counts during an outage, each of which has its own; there is none while the shared limiter answers. */
  private local: RateLimiter | undefined;

  constructor(private readonly deps: FallbackDependencies) {}

  get policy(): RatePolicy {
    return this.deps.shared.policy;
  }

  async consume(caller: string): Promise<RateState> {
    const before = this.local;
    try {
      const state = await this.deps.shared.consume(caller);
      this.endOutage(before);
      return state;
    } catch (error) {
      const local = this.localInstead(error);
      this.deps.metrics.increment('rate_limiter_fallback_total');
      return local.consume(caller);
    }
  }

  /** During an outage the shared limiter is not asked: one that can be read but not written to limits nobody. */
  async peek(caller: string): Promise<RateState> {
    if (this.local) return this.local.peek(caller);
    try {
      return await this.deps.shared.peek(caller);
    } catch (error) {
      return this.localInstead(error).peek(caller);
    }
  }

  /** @throws `error`, unless it says that the shared limiter is unavailable */
  private localInstead(error: unknown): RateLimiter {
    if (!(error instanceof CatalogueError && error.code === 'unavailable')) throw error;
    if (!this.local) {
      this.local = this.deps.makeLocal();
      const details = { policy: this.policy.name, reason: error.message };
      this.deps.journal.warn('rate limits are no longer shared: this process limits on its own', details);
    }
    return this.local;
  }

  /** @param before the local limiter when the request came: an answer to an older question ends no outage */
  private endOutage(before: RateLimiter | undefined): void {
    if (!before || before !== this.local) return;
    this.local = undefined;
    this.deps.journal.info('rate limits are shared again', { policy: this.policy.name });
  }
}
