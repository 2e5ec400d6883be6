import type { Id, Instant, Versioned } from '../../domain/record.js';
import type { Reservation } from './idempotency-store.js';

/** All that a store keeps of one kind, as it is, for carrying it to another store. Every entry has a key of its own. */
export interface Archive<Key extends number | string, Entry> {
  /** Names the resource, alike in every store. */
  readonly name: string;
  /**
   * In ascending order of key: the first of those whose key is greater, `limit` at the most; fewer where they are large, one
   * at least where there is any.
   */
  read(after: Key, limit: number): Promise<readonly Entry[]>;
  /** Puts entries under keys that are free; all or a part of them where it fails. */
  add(entries: readonly Entry[]): Promise<void>;
  /** Forgets entries, with no tombstone left. */
  discard(keys: readonly Key[]): Promise<void>;
}

/** What deletion leaves: the id stays taken. */
export interface Tombstone {
  readonly id: Id;
  readonly deletedAt: Instant;
}

export type RecordEntry = Versioned<unknown> | Tombstone;

/** The records and the tombstones of a resource, in one order. */
export interface RecordArchive extends Archive<Id, RecordEntry> {
  /** The first id that was never reserved. */
  nextId(): Promise<Id>;
  /** From now on no id before `next` is reserved. */
  raiseNextId(next: Id): Promise<void>;
}

/** The reservations of a resource. Their keys are ASCII, which every store orders alike. */
export type ReservationArchive = Archive<string, Reservation>;
