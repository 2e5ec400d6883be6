import type { RateLimitServer } from '../adapters/outbound/cluster/rate-limit-server.js';
import { PinoLogger } from '../adapters/outbound/pino/logger.js';
import type { Settings } from '../config/settings.js';
import { rateLimitServer } from './rate-limits.js';

/** The parts of the primary, which serves nothing itself and opens no store. */
export interface Primary {
  readonly logger: PinoLogger;
  readonly rateLimits: RateLimitServer;
}

export function composePrimary(settings: Settings): Primary {
  return { logger: new PinoLogger(settings.LOG_LEVEL), rateLimits: rateLimitServer(settings) };
}
