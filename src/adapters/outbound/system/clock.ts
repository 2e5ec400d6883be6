import { performance } from 'node:perf_hooks';
import type { Clock } from '../../../application/ports/clock.js';

export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  elapsed(): number {
    return performance.now();
  }
}
