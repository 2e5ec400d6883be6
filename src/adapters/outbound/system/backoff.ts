import { setTimeout as sleep } from 'node:timers/promises';
import type { Backoff } from '../../../application/ports/backoff.js';

const FIRST_MS = 1;
const MAX_MS = 64;

/** Pauses exponentially longer, with full jitter: at most 64 ms. */
export class RandomBackoff implements Backoff {
  async pause(attempt: number): Promise<void> {
    const ceiling = Math.min(FIRST_MS * 2 ** attempt, MAX_MS);
    await sleep(Math.random() * ceiling);
  }
}
