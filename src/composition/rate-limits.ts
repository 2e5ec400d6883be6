import { ClusterRateLimiter } from '../adapters/outbound/cluster/cluster-rate-limiter.js';
import { LineToPrimary } from '../adapters/outbound/cluster/line-to-primary.js';
import type { Line } from '../adapters/outbound/cluster/rate-messages.js';
import { SharedRateLimiters } from '../adapters/outbound/cluster/shared-rate-limiters.js';
import { MemoryRateLimiter } from '../adapters/outbound/memory/rate-limiter.js';
import { RedisConnection } from '../adapters/outbound/redis/connection.js';
import { FallbackRateLimiter } from '../adapters/outbound/redis/fallback-rate-limiter.js';
import { RedisRateLimiter } from '../adapters/outbound/redis/rate-limiter.js';
import type { Journal } from '../application/ports/journal.js';
import type { Metrics } from '../application/ports/metrics.js';
import type { RateLimiter, RatePolicy } from '../application/ports/rate-limiter.js';
import type { Settings } from '../config/settings.js';

/** What is limited, and what the limiters hold open. */
export interface RateLimits {
  readonly requests: RateLimiter;
  /** Failed authentications. */
  readonly failures: RateLimiter;
  close(): void;
}

export interface RateLimitDependencies {
  readonly settings: Settings;
  readonly metrics: Metrics;
  readonly journal: Journal;
  /** Where this process is one of several workers: its line to the one that counts for all. */
  readonly primary?: Line | undefined;
}

/** Failed authentications of one address, so that keys cannot be guessed at leisure. */
const FAILURES: RatePolicy = { name: 'auth', quota: 20, windowSeconds: 60 };

/** For each value of the setting RATE_LIMITER, the adapters that it stands for. */
export const RATE_LIMITS: Readonly<
  Record<Settings['RATE_LIMITER'], (deps: RateLimitDependencies) => RateLimits>
> = {
  memory: ({ settings, primary }) => {
    const line = primary && new LineToPrimary(primary);
    const limiter = (policy: RatePolicy) =>
      line ? new ClusterRateLimiter(policy, line) : new MemoryRateLimiter(policy);
    return { requests: limiter(requestPolicy(settings)), failures: limiter(FAILURES), close: () => {} };
  },
  redis: ({ settings, metrics, journal }) => {
    const connection = new RedisConnection(settings.REDIS_URL, journal);
    const limiter = (policy: RatePolicy) =>
      new FallbackRateLimiter({
        shared: new RedisRateLimiter(policy, connection),
        makeLocal: () => new MemoryRateLimiter(policy),
        metrics,
        journal,
      });
    return {
      requests: limiter(requestPolicy(settings)),
      failures: limiter(FAILURES),
      close: () => connection.close(),
    };
  },
};

/** What the primary counts for all workers of this machine. */
export function sharedRateLimiters(settings: Settings): SharedRateLimiters {
  return new SharedRateLimiters([
    new MemoryRateLimiter(requestPolicy(settings)),
    new MemoryRateLimiter(FAILURES),
  ]);
}

function requestPolicy(settings: Settings): RatePolicy {
  const { RATE_LIMIT_REQUESTS: quota, RATE_LIMIT_WINDOW_SECONDS: windowSeconds } = settings;
  return { name: 'default', quota, windowSeconds };
}
