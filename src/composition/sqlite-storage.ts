import { SqliteDatabase } from '../adapters/outbound/sqlite/connection/database.js';
import { WordIndex } from '../adapters/outbound/sqlite/full-text/index.js';
import { SqliteArchive, SqliteReservationArchive } from '../adapters/outbound/sqlite/records/archive.js';
import { SqliteIdempotencyStore } from '../adapters/outbound/sqlite/records/idempotency-store.js';
import { SqliteRepository, SqliteTombstones } from '../adapters/outbound/sqlite/records/repository.js';
import { SqliteUsageStore } from '../adapters/outbound/sqlite/records/usage-store.js';
import type { Storage, StorageOptions } from './storage.js';
import { EXPIRING_TABLES, idempotencyStores, RESOURCE_TABLES, repositories, TABLES } from './tables.js';

export interface SqliteStorageOptions extends StorageOptions {
  readonly file: string;
}

export function sqliteStorage({ file, budget, logger }: SqliteStorageOptions): Storage {
  const store = new SqliteDatabase(file, logger);
  const reservations = idempotencyStores((table) => new SqliteIdempotencyStore(store, table));
  const usage = new SqliteUsageStore(store);
  return {
    store,
    ...repositories((table) => new SqliteRepository(store, table, budget)),
    reservations,
    usage,
    archives: {
      records: TABLES.map((table) => new SqliteArchive(store, table)),
      reservations: RESOURCE_TABLES.map((table) => new SqliteReservationArchive(store, table)),
    },
    purgeable: [
      ...Object.values(reservations),
      ...EXPIRING_TABLES.map((table) => new SqliteTombstones(store, table)),
      usage,
    ],
    searchIndexes: TABLES.filter(({ searched }) => searched.length > 0).map(
      (table) => new WordIndex(store, table),
    ),
  };
}
