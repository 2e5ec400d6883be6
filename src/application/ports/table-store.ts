import type { Instant } from '../../domain/record.js';
import type { RecordArchive, ReservationArchive } from './archive.js';
import type { ChangeFeed, FeedState } from './change-feed.js';
import type { DerivedData } from './derived-data.js';
import type { IdempotencyStore } from './idempotency-store.js';
import type { RecordTable } from './list-query.js';
import type { Repository } from './repository.js';
import type { Store } from './store.js';
import type { UsageStore } from './usage-store.js';

/** A table with what a store may have to prepare for it. */
export interface StoredTable extends RecordTable {
  /** `keyed`: clients create its records, so it also has reservations. */
  readonly creation: 'keyed' | 'unkeyed';
  /** `expire`: tombstones are purged. `stay`: the id of a deleted record stays used permanently. */
  readonly tombstones: 'expire' | 'stay';
  /** Whether others can learn of its changes. */
  readonly hasFeed: boolean;
  /** Returns the names of stored fields without which a record cannot be used. Absent: it can do without any. */
  readonly unusableFields?: (fields: unknown) => readonly string[];
}

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

/** What a store keeps of one table. A part that the table does not need is not used. */
export interface TableStore<Fields> {
  readonly records: Repository<Fields>;
  readonly reservations: IdempotencyStore;
  readonly changes: ChangeFeed<Fields>;
  /** What the service must purge. Absent if the store removes expired entries itself. */
  readonly expiring?: { readonly reservations: Purgeable; readonly tombstones: Purgeable };
  /** For a copy to another store. Absent if nothing outlives the process. */
  readonly archives?: { readonly records: RecordArchive; readonly reservations: ReservationArchive };
}

/** What an adapter makes of one store, unopened. */
export interface StorageParts {
  readonly store: Store;
  /** Of all its feeds. */
  readonly feedState: FeedState;
  /** Absent if nothing outlives the process. */
  readonly derived?: DerivedData;
  /** The usage of API keys. */
  readonly usage: UsageStore;
  /** The same usage, if the service must purge it. Absent if the store removes expired counts itself. */
  readonly expiringUsage?: Purgeable;
  /** Reservations of no table, for the mark of a copy. Absent if nothing outlives the process. */
  readonly unfinishedCopy?: ReservationArchive;
  /** Called once for each table. */
  table<Fields extends object>(table: StoredTable): TableStore<Fields>;
}
