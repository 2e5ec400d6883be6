import {
  PostgresqlArchive,
  PostgresqlReservationArchive,
  PostgresqlTombstones,
} from '../adapters/outbound/postgresql/archive.js';
import { PostgresqlIdempotencyStore } from '../adapters/outbound/postgresql/idempotency-store.js';
import { PostgresqlRepository } from '../adapters/outbound/postgresql/repository.js';
import { PostgresqlStore } from '../adapters/outbound/postgresql/store.js';
import { PostgresqlUsageStore } from '../adapters/outbound/postgresql/usage-store.js';
import type { Storage, StorageOptions } from './storage.js';
import { EXPIRING_TABLES, idempotencyStores, RESOURCE_TABLES, repositories, TABLES } from './tables.js';

export interface PostgresqlStorageOptions extends StorageOptions {
  readonly url: string;
}

/** @throws StoreConfigError */
export function postgresqlStorage({ url, budget }: PostgresqlStorageOptions): Storage {
  const store = new PostgresqlStore(url, budget);
  const reservations = idempotencyStores((table) => new PostgresqlIdempotencyStore(store, table));
  const usage = new PostgresqlUsageStore(store);
  return {
    store,
    ...repositories((table) => new PostgresqlRepository(store, table)),
    reservations,
    usage,
    archives: {
      records: TABLES.map((table) => new PostgresqlArchive(store, table)),
      reservations: RESOURCE_TABLES.map((table) => new PostgresqlReservationArchive(store, table)),
    },
    purgeable: [
      ...Object.values(reservations),
      ...EXPIRING_TABLES.map((table) => new PostgresqlTombstones(store, table)),
      usage,
    ],
    searchIndexes: [],
  };
}
