import { setTimeout as sleep } from 'node:timers/promises';
import type { Backoff } from '../../../application/ports/backoff.js';

const FIRST_MS = 1;
const LONGEST_MS = 64;

/** Exponential, with full jitter. */
export class RandomBackoff implements Backoff {
  async pause(attempt: number): Promise<void> {
    const ceiling = Math.min(FIRST_MS * 2 ** attempt, LONGEST_MS);
    await sleep(Math.random() * ceiling);
  }
}
