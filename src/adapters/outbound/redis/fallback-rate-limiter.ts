import type { Metrics } from '../../../application/ports/metrics.js';
import type { RateLimiter, RatePolicy, RateState } from '../../../application/ports/rate-limiter.js';
import { AppError } from '../../../domain/errors.js';

export interface FallbackDependencies {
  /** Counts for all processes together. Throws `unavailable` if it cannot count in time. */
  readonly shared: RateLimiter;
  /** Makes a limiter for this process alone, with all counts at zero. */
  readonly makeLocal: () => RateLimiter;
  readonly metrics: Metrics;
}

/**
 * Limits by the shared limiter, and during its outages by a limiter of this process. An outage begins with the first
 * request that the shared limiter does not count, and ends with the first that it counts again. A caller has one local
 * quota per window, even if outages follow one another.
 */
export class FallbackRateLimiter implements RateLimiter {
  /** Made for the first outage. Its counts end with their windows: a new outage within a window continues them. */
  private local: RateLimiter | undefined;
  private isOutage = false;
  /** The number of outages that have begun. */
  private outages = 0;

  constructor(private readonly deps: FallbackDependencies) {}

  get policy(): RatePolicy {
    return this.deps.shared.policy;
  }

  async consume(caller: string): Promise<RateState> {
    const { isOutage, outages } = this;
    try {
      const state = await this.deps.shared.consume(caller);
      // A request from before an outage does not end it.
      if (isOutage && outages === this.outages) this.isOutage = false;
      return state;
    } catch (error) {
      const local = this.startOutage(error);
      this.deps.metrics.increment('rate_limiter_fallback_total');
      return local.consume(caller);
    }
  }

  /** Does not read the shared limiter during an outage: a limiter that can be read but not written limits nobody. */
  async peek(caller: string): Promise<RateState> {
    if (this.isOutage && this.local) return this.local.peek(caller);
    try {
      return await this.deps.shared.peek(caller);
    } catch (error) {
      return this.startOutage(error).peek(caller);
    }
  }

  /** @throws `error`, unless it is `unavailable` */
  private startOutage(error: unknown): RateLimiter {
    if (!(error instanceof AppError && error.code === 'unavailable')) throw error;
    this.local ??= this.deps.makeLocal();
    if (!this.isOutage) {
      this.isOutage = true;
      this.outages++;
    }
    return this.local;
  }
}
