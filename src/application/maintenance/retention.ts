import { forEach } from '../../shared/promises.js';
import { BACKGROUND } from '../../shared/task-scheduler.js';
import type { Clock } from '../ports/clock.js';
import type { Purgeable } from '../ports/table-store.js';

export const HOUR_MS = 3_600_000;

/** How long a retry is recognized. */
export const RESERVATION_PROMISED_MS = 24 * HOUR_MS;

/** How long a reservation is kept. The extra hour is for a copy of the store and for clocks that differ. */
export const RESERVATION_MS = RESERVATION_PROMISED_MS + HOUR_MS;

/**
 * How long a tombstone is kept. It outlives every reservation of its id, which is older than the deletion. A client
 * that reads all changes within the 50 hours of a cursor learns of it; for others the cursor has expired.
 */
export const TOMBSTONE_MS = 2 * RESERVATION_MS + HOUR_MS;

/** How long usage of API keys is kept. It is shown for 25 hours at most; the extra hour is for clocks that differ. */
export const USAGE_MS = 26 * HOUR_MS;

/** How long a store with a log of changes keeps its entries. A cursor is valid for 50 hours; the rest is for clocks that differ. */
export const CHANGES_MS = 52 * HOUR_MS;

const PURGE_BATCH = 500;

/** Purges expired entries in batches, so that other work waits for one batch at most. */
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
   * @param isOver called between two batches; the purge ends if it returns true
   * @throws AppError `unavailable`
   */
  async purgeExpired(isOver: () => boolean = () => false): Promise<void> {
    await forEach(this.purgeable, async (purgeable) => {
      const moment = this.now() - purgeable.retentionMs;
      while (!isOver() && (await purgeable.purgeBefore(moment, PURGE_BATCH)) === PURGE_BATCH) await BACKGROUND.yield();
    });
  }

  /** Returns the time of day in whole milliseconds, or less if the clock was set forward while this process runs: nothing expires early. */
  private now(): number {
    const { clock } = this;
    return Math.floor(Math.min(clock.now(), this.startedAt + clock.elapsed() - this.startedElapsed));
  }
}
