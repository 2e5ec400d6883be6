import type { Instant } from '../../domain/record.js';

/** Entries that expire, in a store that does not delete them by itself. */
export interface Purgeable {
  /** The minimum age at which an entry is deleted. */
  readonly retentionMs: number;
  /**
   * Deletes entries that are older than `moment`, the oldest first.
   * @param limit the maximum number of entries that one call deletes
   * @returns the number of deleted entries
   * @throws AppError `unavailable`
   */
  purgeBefore(moment: Instant, limit: number): Promise<number>;
}
