import {
  type Channel,
  ClusterRateLimiter,
  PrimaryChannel,
  RateLimitServer,
} from '../adapters/outbound/cluster/rate-limits.js';
import { MemoryRateLimiter } from '../adapters/outbound/memory/rate-limiter.js';
import type { PrometheusMetrics } from '../adapters/outbound/prometheus/metrics.js';
import type { Clock } from '../application/ports/clock.js';
import type { Logger } from '../application/ports/logger.js';
import type { Metrics } from '../application/ports/metrics.js';
import type { Observer } from '../application/ports/observer.js';
import type { RateLimiter, RatePolicy } from '../application/ports/rate-limiter.js';
import type { Settings } from '../config/settings.js';

/** The limiters. `close` ends their connection, if they have one. */
export interface RateLimits {
  readonly requests: RateLimiter;
  /** Failed authentications. */
  readonly failures: RateLimiter;
  close(): void;
}

export interface RateLimitDependencies {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** In a cluster worker: its channel to the primary, which counts for all workers. */
  readonly options: { readonly primary?: Channel | undefined };
  /** Learn of every call of Redis. */
  readonly storeObservers: readonly Observer[];
}

export type MakeRateLimits = (deps: RateLimitDependencies) => RateLimits;

/** The limit of failed authentications per IP address, so that keys cannot be guessed. */
const FAILURES: RatePolicy = { name: 'auth', quota: 20, windowSeconds: 60 };

/** Counts in this process; in a cluster worker, in the primary. */
export const memoryRateLimits: MakeRateLimits = ({ settings, clock, options: { primary } }) => {
  const channel = primary && new PrimaryChannel(primary);
  const limiter = (policy: RatePolicy) =>
    channel ? new ClusterRateLimiter(policy, channel, clock) : new MemoryRateLimiter(policy, clock);
  return { requests: limiter(requestPolicy(settings)), failures: limiter(FAILURES), close: () => {} };
};

/** For each value of the setting RATE_LIMITER: loads its driver, and returns a function that makes its limiters. */
export const RATE_LIMITERS: Readonly<Record<Settings['RATE_LIMITER'], () => Promise<MakeRateLimits>>> = {
  memory: async () => memoryRateLimits,

  redis: async () => {
    const { RedisConnection } = await import('../adapters/outbound/redis/connection.js');
    const { FallbackRateLimiter, RedisRateLimiter } = await import('../adapters/outbound/redis/rate-limiter.js');
    return ({ settings, clock, metrics, logger, storeObservers }) => {
      const connection = new RedisConnection(settings.REDIS_URL, logger);
      const limiter = (policy: RatePolicy) =>
        new FallbackRateLimiter({
          shared: new RedisRateLimiter(policy, connection, storeObservers),
          makeLocal: () => new MemoryRateLimiter(policy, clock),
          metrics,
        });
      return {
        requests: limiter(requestPolicy(settings)),
        failures: limiter(FAILURES),
        close: () => connection.close(),
      };
    };
  },
};

/** Returns the limiters, whose decisions the metrics count. */
export function countedLimits(limits: RateLimits, metrics: PrometheusMetrics): RateLimits {
  return {
    requests: metrics.counted(limits.requests),
    failures: metrics.counted(limits.failures),
    close: () => limits.close(),
  };
}

/** The primary's limiters, which count for all workers of this machine. */
export function rateLimitServer(settings: Settings, clock: Clock): RateLimitServer {
  return new RateLimitServer([
    new MemoryRateLimiter(requestPolicy(settings), clock),
    new MemoryRateLimiter(FAILURES, clock),
  ]);
}

function requestPolicy(settings: Settings): RatePolicy {
  const { RATE_LIMIT_REQUESTS: quota, RATE_LIMIT_WINDOW_SECONDS: windowSeconds } = settings;
  return { name: 'default', quota, windowSeconds };
}
