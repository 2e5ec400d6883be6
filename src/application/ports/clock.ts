import type { Instant } from '../../domain/record.js';

export interface Clock {
  /** The time of day; may jump either way. */
  now(): Instant;
  /** Milliseconds since some moment, for measuring durations. Never goes back. */
  elapsed(): number;
}

export interface Timer {
  /**
   * Calls back once, after `ms` milliseconds.
   * @returns what prevents the call
   */
  after(ms: number, call: () => void): () => void;
}

/** Pauses between two attempts of a write that lost a race. Pauses are random and grow, so that rivals separate. */
export interface Backoff {
  /** @param attempt the number of attempts that were lost so far, from 1 */
  pause(attempt: number): Promise<void>;
}
