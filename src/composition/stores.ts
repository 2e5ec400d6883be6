import { MemoryIdempotencyStore } from '../adapters/outbound/memory/idempotency-store.js';
import { MemoryRepository, MemoryStore, MemoryTombstones } from '../adapters/outbound/memory/repository.js';
import { MongoArchive, MongoReservationArchive } from '../adapters/outbound/mongo/archive.js';
import { mongoTable } from '../adapters/outbound/mongo/documents.js';
import { MongoIdempotencyStore } from '../adapters/outbound/mongo/idempotency-store.js';
import { recordIndexes, reservationExpiry, tombstoneExpiry } from '../adapters/outbound/mongo/indexes.js';
import { MongoRepository } from '../adapters/outbound/mongo/repository.js';
import { MongoStore } from '../adapters/outbound/mongo/store.js';
import { SqliteArchive, SqliteReservationArchive } from '../adapters/outbound/sqlite/archive.js';
import { SqliteDatabase } from '../adapters/outbound/sqlite/database.js';
import { SqliteIdempotencyStore } from '../adapters/outbound/sqlite/idempotency-store.js';
import { SqliteRepository, SqliteTombstones } from '../adapters/outbound/sqlite/repository.js';
import type { RecordArchive, ReservationArchive } from '../application/ports/archive.js';
import type { Journal } from '../application/ports/journal.js';
import type { Purgeable } from '../application/ports/purgeable.js';
import type { Store } from '../application/ports/store.js';
import type { QueryBudget } from '../application/query-budget.js';
import type { Settings } from '../config/settings.js';
import {
  EXPIRING_TABLES,
  type IdempotencyStores,
  idempotencyStores,
  RESOURCE_TABLES,
  type Repositories,
  repositories,
  TABLES,
} from './tables.js';

/** A store and what lives in it. */
export interface Stored extends Repositories {
  readonly store: Store;
  readonly reservations: IdempotencyStores;
  /** All of it, for copying; empty where nothing outlives the process. */
  readonly archives: Archives;
  /** What this program is to remove with time; empty where the store does it by itself. */
  readonly expiring: readonly Purgeable[];
}

export interface Archives {
  readonly records: readonly RecordArchive[];
  readonly reservations: readonly ReservationArchive[];
}

type StoreSettings = Pick<Settings, 'SQLITE_FILE' | 'MONGODB_URL'>;

/**
 * For each value of the setting STORE, the adapters that it stands for. A command needs no logger: the error that ends it
 * says what happened.
 */
export const STORES: Readonly<
  Record<Settings['STORE'], (settings: StoreSettings, budget: QueryBudget, logger?: Journal) => Stored>
> = {
  memory: (_, budget) => {
    const tombstones = new Map(TABLES.map((table) => [table, new MemoryTombstones()]));
    const reservations = idempotencyStores(() => new MemoryIdempotencyStore());
    return {
      store: new MemoryStore(),
      ...repositories((table) => new MemoryRepository(table, budget, tombstones.get(table))),
      reservations,
      archives: { records: [], reservations: [] },
      expiring: [
        ...Object.values(reservations),
        ...EXPIRING_TABLES.flatMap((table) => tombstones.get(table) ?? []),
      ],
    };
  },

  sqlite: ({ SQLITE_FILE }, budget, logger) => {
    const store = new SqliteDatabase(SQLITE_FILE, logger);
    const reservations = idempotencyStores((table) => new SqliteIdempotencyStore(store, table));
    return {
      store,
      ...repositories((table) => new SqliteRepository(store, table, budget)),
      reservations,
      archives: {
        records: TABLES.map((table) => new SqliteArchive(store, table)),
        reservations: RESOURCE_TABLES.map((table) => new SqliteReservationArchive(store, table)),
      },
      expiring: [
        ...Object.values(reservations),
        ...EXPIRING_TABLES.map((table) => new SqliteTombstones(store, table)),
      ],
    };
  },

  mongodb: ({ MONGODB_URL }, budget) => {
    const indexes = [
      ...TABLES.map(recordIndexes),
      ...EXPIRING_TABLES.map(tombstoneExpiry),
      ...RESOURCE_TABLES.map(reservationExpiry),
    ];
    const store = new MongoStore(MONGODB_URL, indexes, budget);
    return {
      store,
      ...repositories((table) => new MongoRepository(store, mongoTable(table))),
      reservations: idempotencyStores((table) => new MongoIdempotencyStore(store, table)),
      archives: {
        records: TABLES.map((table) => new MongoArchive(store, mongoTable(table))),
        reservations: RESOURCE_TABLES.map((table) => new MongoReservationArchive(store, table)),
      },
      expiring: [],
    };
  },
};
