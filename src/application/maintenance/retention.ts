import { yieldFairly } from '../../shared/event-loop.js';
import type { Clock } from '../ports/clock.js';
import type { Purgeable } from '../ports/purgeable.js';

export const HOUR_MS = 3_600_000;

/** For so long a repetition is known as one. */
export const RESERVATION_PROMISED_MS = 24 * HOUR_MS;

/** For so long a reservation is kept; the hour more is for those who copy it, and for clocks that differ. */
export const RESERVATION_MS = RESERVATION_PROMISED_MS + HOUR_MS;

/** A tombstone outlives every reservation of its id, which was made before the record was deleted. */
export const TOMBSTONE_MS = 2 * RESERVATION_MS;

const BATCH = 500;

/** Lets go of what is kept for a time only, batch by batch, so that nobody waits long for it. */
export class Retention {
  private readonly startedAt: number;
  private readonly startedElapsed: number;

  constructor(
    private readonly purgeable: readonly Purgeable[],
    private readonly clock: Clock,
  ) {
    this.startedAt = clock.now();
    this.startedElapsed = clock.elapsed();
  }

  /**
   * @param isOver asked between two batches
   * @throws AppError `unavailable`
   */
  async purgeExpired(isOver: () => boolean = () => false): Promise<void> {
    for (const purgeable of this.purgeable) {
      const moment = this.now() - purgeable.retentionMs;
      while (!isOver() && (await purgeable.purgeBefore(moment, BATCH)) === BATCH) await yieldFairly();
    }
  }

  /** A clock that is set forward while this process runs makes nothing older. */
  private now(): number {
    const { clock } = this;
    return Math.min(clock.now(), this.startedAt + clock.elapsed() - this.startedElapsed);
  }
}
