import type { Instant } from '../../domain/record.js';

/** What a store keeps for a time only, and does not remove by itself. */
export interface Purgeable {
  /** Milliseconds for which it is kept at least. */
  readonly retentionMs: number;
  /**
   * Removes what is older than `moment`, the oldest first.
   * @param limit of how much is removed in one go
   * @returns how much was
   * @throws CatalogueError `unavailable`
   */
  purgeBefore(moment: Instant, limit: number): Promise<number>;
}
