import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Backoff, Clock, Timer } from '../../../application/ports/clock.js';

export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  elapsed(): number {
    return performance.now();
  }
}

/** It keeps no process alive. */
export class SystemTimer implements Timer {
  after(ms: number, call: () => void): () => void {
    const timer = setTimeout(call, ms).unref();
    return () => clearTimeout(timer);
  }
}

const FIRST_MS = 1;
const MAX_MS = 64;

/** Pauses exponentially longer, with full jitter: at most 64 ms. */
export class RandomBackoff implements Backoff {
  async pause(attempt: number): Promise<void> {
    const ceiling = Math.min(FIRST_MS * 2 ** attempt, MAX_MS);
    await sleep(Math.random() * ceiling);
  }
}
