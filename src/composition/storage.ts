import type { QueryBudget } from '../application/maintenance/query-budget.js';
import type { Archives } from '../application/ports/archive.js';
import type { Logger } from '../application/ports/logger.js';
import type { Purgeable } from '../application/ports/purgeable.js';
import type { SearchIndex } from '../application/ports/search-index.js';
import type { Store } from '../application/ports/store.js';
import type { UsageStore } from '../application/ports/usage-store.js';
import type { IdempotencyStores, Repositories } from './tables.js';

/** A store, its repositories and its idempotency stores. */
export interface Storage extends Repositories {
  readonly store: Store;
  readonly reservations: IdempotencyStores;
  /** The usage of API keys, which no copy contains. */
  readonly usage: UsageStore;
  /** Empty if nothing outlives the process. */
  readonly archives: Archives;
  /** The entries that the service must purge; empty if the store purges them itself. */
  readonly purgeable: readonly Purgeable[];
  /** The indexes of words; empty if nothing outlives the process. */
  readonly searchIndexes: readonly SearchIndex[];
}

/** The options of every storage. */
export interface StorageOptions {
  readonly budget: QueryBudget;
  /** Absent in commands, which report the error that ends them. */
  readonly logger?: Logger;
}
