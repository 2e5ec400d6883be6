import type { RateLimiter, RateState } from '../../../application/ports/rate-limiter.js';
import type { Channel, RateRequest, RateRequests, RateResponses } from './rate-limiter.js';

/** Counts requests in the primary for all workers. The counts outlive each worker. */
export class RateLimitServer {
  private readonly byName: ReadonlyMap<string, RateLimiter>;

  /** @param limiters their policies have different names */
  constructor(limiters: readonly RateLimiter[]) {
    this.byName = new Map(limiters.map((limiter) => [limiter.policy.name, limiter]));
  }

  /** Responds to all requests of this channel until it closes. */
  serve(channel: Channel): void {
    channel.receive(async (message) => {
      if (!isRateRequests(message)) return;
      const states = await Promise.all(message.requests.map((request) => this.count(request)));
      channel.send({ batch: message.batch, states } satisfies RateResponses);
    });
  }

  /** @returns null if the policy is not known */
  private async count([policy, verb, caller]: RateRequest): Promise<RateState | null> {
    const limiter = this.byName.get(policy);
    return limiter ? limiter[verb](caller) : null;
  }
}

function isRateRequests(message: unknown): message is RateRequests {
  return typeof message === 'object' && message !== null && 'batch' in message && 'requests' in message;
}
