import { MemoryRateLimiter } from '#src/adapters/outbound/memory/rate-limiter.js';
import { FakeClock } from '../support/fakes.js';
import { rateLimiterContract } from './rate-limiter.contract.js';

const clock = new FakeClock();
rateLimiterContract(
  'memory',
  (policy) => new MemoryRateLimiter(policy, clock),
  (ms) => {
    clock.running += ms;
  },
);
