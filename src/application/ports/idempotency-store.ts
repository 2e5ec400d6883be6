import type { Id, Instant } from '../../domain/record.js';

/** Of a key under which itself nothing is created. */
export const NO_ID: Id = 0;

/** What stands under an idempotency key from its first use on. */
export interface Reservation {
  /** Names the request, of one principal in one collection; a text of printable ASCII. */
  readonly key: string;
  /** Of what was sent, by value: another body has another one. */
  readonly fingerprint: string;
  /** Whatever is created under the key is created under this id, so that the id's uniqueness decides who creates it; or {@link NO_ID}. */
  readonly id: Id;
  readonly reservedAt: Instant;
  /** The fields that the first answer shows beside the id, as JSON; absent where it shows the id alone. */
  readonly fields?: string;
}

/**
 * Keeps the reservations of one resource for {@link RESERVATION_MS} at least. What goes in and what comes out are copies.
 * Every method may throw a CatalogueError `unavailable`; what was to be reserved then may or may not stand.
 */
export interface IdempotencyStore {
  /** @returns what stands under those of the keys that are in use, by key */
  find(keys: readonly string[]): Promise<ReadonlyMap<string, Reservation>>;

  /**
   * Puts each reservation under its key, unless there is one already. Of several that race for one key exactly one stands,
   * and all are told the same.
   * @param reservations of different keys
   * @returns what stands under each key now
   */
  reserve(reservations: readonly Reservation[]): Promise<ReadonlyMap<string, Reservation>>;
}
