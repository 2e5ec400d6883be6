import type { Id, Instant, Versioned } from '../../domain/record.js';
import type { Reservation } from './idempotency-store.js';

/** The numbers of the entries of an archive: of `record` and `tombstone`, or of `reservation`. */
export type EntryCounts = Readonly<Record<string, number>>;

/**
 * Everything of one kind that a store keeps, unchanged, for copying it to another store. Every entry has its own key.
 */
export interface Archive<Key extends number | string, Entry> {
  /** The name of the resource, the same in every store. */
  readonly name: string;
  /**
   * Returns the entries with greater keys, in ascending order of key: at most `limit`, fewer if they are large, at
   * least one if there is any.
   */
  read(after: Key, limit: number): Promise<readonly Entry[]>;
  /** Returns the number of entries of each kind, without those that expire and are older than `since`. */
  counts(since: Instant): Promise<EntryCounts>;
  /** Adds entries with unused keys. If it fails, it may have added some of them. */
  add(entries: readonly Entry[]): Promise<void>;
  /** Deletes entries without tombstones. */
  discard(keys: readonly Key[]): Promise<void>;
}

/** The mark of a deleted record: its id stays used. */
export interface Tombstone {
  readonly id: Id;
  readonly deletedAt: Instant;
}

export type RecordEntry = Versioned<unknown> | Tombstone;

/** The records and the tombstones of a resource, in one order. */
export interface RecordArchive extends Archive<Id, RecordEntry> {
  /** Returns the first id that was never reserved. */
  nextId(): Promise<Id>;
  /** Makes sure that no id before `next` is reserved from now on. */
  raiseNextId(next: Id): Promise<void>;
  /**
   * Returns a text that differs from the last one if other programs have created, changed or deleted records since. A
   * store may detect a change by its time, and miss one whose time is not after that of every other record.
   */
  changeMark(): Promise<string>;
}

/** The reservations of a resource. Their keys are ASCII, which every store sorts alike. */
export type ReservationArchive = Archive<string, Reservation>;

/** The archives of a store that a copy reads and writes. */
export interface Archives {
  readonly records: readonly RecordArchive[];
  readonly reservations: readonly ReservationArchive[];
  /** Has an entry while a copy to this store has not ended. Absent if nothing outlives the process. */
  readonly unfinished?: ReservationArchive;
}

/** The mark of a target whose copy has not ended: a reservation of no table. Services and commands refuse the store. */
export const UNFINISHED_COPY = {
  name: 'unfinished_copy',
  message: 'a copy to this store has not ended',
  remedy: 'if catalogue copy broke off, run it again with --overwrite',
} as const;
