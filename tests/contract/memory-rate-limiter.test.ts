import { MemoryRateLimiter } from '#src/adapters/outbound/memory/rate-limiter.js';
import { rateLimiterContract } from './rate-limiter.contract.js';

rateLimiterContract('memory', (policy) => new MemoryRateLimiter(policy));
