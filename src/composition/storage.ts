import type { Archives } from '../application/ports/archive.js';
import type { FeedState } from '../application/ports/change-feed.js';
import type { Purgeable } from '../application/ports/purgeable.js';
import type { Repository } from '../application/ports/repository.js';
import type { SearchIndex } from '../application/ports/search-index.js';
import type { Store } from '../application/ports/store.js';
import type { StorageParts, StoredTable, TableStore } from '../application/ports/table-store.js';
import type { UsageStore } from '../application/ports/usage-store.js';
import {
  type ChangeFeeds,
  changeFeeds,
  EXPIRING_TABLES,
  type IdempotencyStores,
  idempotencyStores,
  RESOURCE_TABLES,
  type Repositories,
  repositories,
  TABLES,
} from './tables.js';

/** A store, its repositories and its idempotency stores. */
export interface Storage extends Repositories {
  readonly store: Store;
  readonly reservations: IdempotencyStores;
  readonly changes: ChangeFeeds;
  readonly feedState: FeedState;
  /** The usage of API keys, which no copy contains. */
  readonly usage: UsageStore;
  /** Empty if nothing outlives the process. */
  readonly archives: Archives;
  /** The entries that the service must purge; empty if the store purges them itself. */
  readonly purgeable: readonly Purgeable[];
  /** The indexes that may lag behind; empty if nothing outlives the process. */
  readonly searchIndexes: readonly SearchIndex[];
}

/** Makes the storage of all tables: what the service must purge, and what a copy carries. */
export function storageOf(parts: StorageParts): Storage {
  const { store, usage, expiringUsage } = parts;
  const all = new Map(TABLES.map((table) => [table, parts.table(table)]));
  const of = (table: StoredTable) => all.get(table) as TableStore<object>;
  return {
    store,
    ...repositories(<Fields extends object>(table: StoredTable) => of(table).records as Repository<Fields>),
    reservations: idempotencyStores((table) => of(table).reservations),
    changes: changeFeeds((table) => of(table).changes),
    feedState: parts.feedState,
    usage,
    archives: {
      records: TABLES.flatMap((table) => of(table).archives?.records ?? []),
      reservations: RESOURCE_TABLES.flatMap((table) => of(table).archives?.reservations ?? []),
    },
    purgeable: [
      ...RESOURCE_TABLES.flatMap((table) => of(table).expiring?.reservations ?? []),
      ...EXPIRING_TABLES.flatMap((table) => of(table).expiring?.tombstones ?? []),
      ...(expiringUsage ? [expiringUsage] : []),
    ],
    searchIndexes: TABLES.filter(({ searched }) => searched.length > 0).flatMap(
      (table) => of(table).indexes ?? [],
    ),
  };
}
