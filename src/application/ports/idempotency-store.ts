import type { Id, Instant } from '../../domain/record.js';

/** The id in the reservation of a key under which no single record is created. */
export const NO_ID: Id = 0;

/** The entry that the first use of an idempotency key leaves in the store. */
export interface Reservation {
  /** Identifies the request, of one principal in one collection. Printable ASCII. */
  readonly key: string;
  /** The fingerprint of the request's body: another body has another fingerprint. */
  readonly fingerprint: string;
  /**
   * Every attempt under the key creates its record under this id, so the unique id decides which one succeeds; or
   * {@link NO_ID}.
   */
  readonly id: Id;
  readonly reservedAt: Instant;
  /** The fields that the first response shows besides the id, as JSON; absent if it shows only the id. */
  readonly fields?: string;
}

/**
 * Stores the reservations of one resource for at least {@link RESERVATION_MS}. It copies every argument at the moment
 * of the call, and returns copies. Every method may throw an AppError `unavailable`; the reservations may
 * still have been made.
 */
export interface IdempotencyStore {
  /** @returns the reservations of those keys that are in use, by key */
  find(keys: readonly string[]): Promise<ReadonlyMap<string, Reservation>>;

  /**
   * Makes each reservation whose key is not in use. If several callers race for one key, exactly one succeeds, and
   * all get its reservation.
   * @param reservations of different keys
   * @returns the reservation of each key, new or existing
   */
  reserve(reservations: readonly Reservation[]): Promise<ReadonlyMap<string, Reservation>>;
}
