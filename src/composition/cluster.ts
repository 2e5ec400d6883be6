import { GroupMetrics, MetricsServer } from '../adapters/outbound/cluster/metrics.js';
import type { Channel, RateLimitServer } from '../adapters/outbound/cluster/rate-limits.js';
import { PinoLogger } from '../adapters/outbound/pino/logger.js';
import { standardErrorLog } from '../adapters/outbound/pino/terminal-log.js';
import { ProcessMetrics, PrometheusMerger } from '../adapters/outbound/prometheus/merger.js';
import type { PrometheusMetrics } from '../adapters/outbound/prometheus/metrics.js';
import { SystemClock } from '../adapters/outbound/system/clock.js';
import type { Logger } from '../application/ports/logger.js';
import type { Settings } from '../config/settings.js';
import { rateLimitServer } from './rate-limits.js';

/** The parts of a cluster's primary, which serves nothing itself and opens no store. */
export interface Primary {
  readonly logger: PinoLogger;
  readonly rateLimits: RateLimitServer;
  /** Puts the metrics of all workers together. */
  readonly metrics: MetricsServer;
}

export function composePrimary(settings: Settings): Primary {
  const logger = standardErrorLogger(settings);
  return {
    logger,
    rateLimits: rateLimitServer(settings, new SystemClock()),
    metrics: new MetricsServer({
      own: new ProcessMetrics(),
      merger: new PrometheusMerger(),
      onError: logFailure(logger),
    }),
  };
}

/** In a cluster worker: the metrics of all workers. */
export function groupMetrics(own: PrometheusMetrics, primary: Channel, logger: Logger): GroupMetrics {
  return new GroupMetrics(own, primary, logFailure(logger));
}

export function standardErrorLogger({ LOG_LEVEL, LOG_FORMAT }: Settings): PinoLogger {
  return new PinoLogger(LOG_LEVEL, standardErrorLog(LOG_FORMAT));
}

function logFailure(logger: Logger): (error: unknown) => void {
  return (error) => logger.error('the metrics could not be collected', { error });
}
