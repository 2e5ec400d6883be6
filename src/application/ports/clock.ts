import type { Instant } from '../../domain/record.js';

export interface Clock {
  /** The time of day; may jump either way. */
  now(): Instant;
  /** Milliseconds since some moment, for measuring durations. Never goes back. */
  elapsed(): number;
}
