import type { QueryBudget } from '../application/maintenance/query-budget.js';
import type { RecordArchive, ReservationArchive } from '../application/ports/archive.js';
import type { Logger } from '../application/ports/logger.js';
import type { Purgeable } from '../application/ports/purgeable.js';
import type { Store } from '../application/ports/store.js';
import type { IdempotencyStores, Repositories } from './tables.js';

/** A store and everything that lives in it. */
export interface Storage extends Repositories {
  readonly store: Store;
  readonly reservations: IdempotencyStores;
  /** Everything that a copy has to bring over; empty if nothing outlives the process. */
  readonly archives: Archives;
  /** What this program has to purge; empty if the store does so by itself. */
  readonly purgeable: readonly Purgeable[];
}

export interface Archives {
  readonly records: readonly RecordArchive[];
  readonly reservations: readonly ReservationArchive[];
}

/** What the storage of every store needs. */
export interface StorageOptions {
  readonly budget: QueryBudget;
  /** Absent in commands, which report the error that ends them. */
  readonly logger?: Logger;
}
