import { ClusterRateLimiter } from '../adapters/outbound/cluster/cluster-rate-limiter.js';
import { LineToPrimary } from '../adapters/outbound/cluster/line-to-primary.js';
import type { Line } from '../adapters/outbound/cluster/rate-messages.js';
import { SharedRateLimiters } from '../adapters/outbound/cluster/shared-rate-limiters.js';
import { MemoryRateLimiter } from '../adapters/outbound/memory/memory-rate-limiter.js';
import type { RateLimiter, RatePolicy } from '../application/ports/rate-limiter.js';
import type { Settings } from '../config/settings.js';

/** The two counts of the service. */
export interface Limiters {
  readonly requests: RateLimiter;
  readonly failures: RateLimiter;
}

/** Failed authentications of one address, so that keys cannot be guessed at leisure. */
const FAILURES: RatePolicy = { name: 'auth', quota: 20, windowSeconds: 60 };

/** @param primary where this process is one of several workers: its line to the one that counts for all */
export function limiters(settings: Settings, primary?: Line): Limiters {
  const make = maker(primary);
  return { requests: make(requestPolicy(settings)), failures: make(FAILURES) };
}

/** What counts for all workers of this machine. */
export function sharedLimiters(settings: Settings): SharedRateLimiters {
  const { requests, failures } = limiters(settings);
  return new SharedRateLimiters([requests, failures]);
}

function maker(primary: Line | undefined): (policy: RatePolicy) => RateLimiter {
  if (!primary) return (policy) => new MemoryRateLimiter(policy);
  const line = new LineToPrimary(primary);
  return (policy) => new ClusterRateLimiter(policy, line);
}

function requestPolicy({ RATE_LIMIT_REQUESTS, RATE_LIMIT_WINDOW_SECONDS }: Settings): RatePolicy {
  return { name: 'default', quota: RATE_LIMIT_REQUESTS, windowSeconds: RATE_LIMIT_WINDOW_SECONDS };
}
