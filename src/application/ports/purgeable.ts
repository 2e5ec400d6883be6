import type { Instant } from '../../domain/record.js';

/** What a store keeps for a time only, and does not remove by itself. */
export interface Expiring {
  /** Milliseconds for which it is kept at least. */
  readonly keptMs: number;
  /**
   * Removes what is older than `moment`, the oldest first.
   * @param limit of how much is removed in one go
   * @returns how much was
   * @throws CatalogueError `unavailable`
   */
  removeBefore(moment: Instant, limit: number): Promise<number>;
}
