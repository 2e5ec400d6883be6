import { MemoryRateLimiter } from '#src/adapters/outbound/memory/rate-limiter.js';
import { SystemClock } from '#src/adapters/outbound/system/clock.js';
import { rateLimiterContract } from './rate-limiter.contract.js';

rateLimiterContract('memory', (policy) => new MemoryRateLimiter(policy, new SystemClock()));
