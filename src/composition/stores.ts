import { MemoryIdempotencyStore } from '../adapters/outbound/memory/idempotency-store.js';
import { MemoryRepository, MemoryStore, MemoryTombstones } from '../adapters/outbound/memory/repository.js';
import { MemoryUsageStore } from '../adapters/outbound/memory/usage-store.js';
import type { Settings } from '../config/settings.js';
import type { Storage, StorageOptions } from './storage.js';
import { EXPIRING_TABLES, idempotencyStores, repositories, TABLES } from './tables.js';

/** @throws StoreConfigError */
export type MakeStorage = (settings: Settings, options: StorageOptions) => Storage;

/** For each value of the setting STORE: loads its driver, and returns a function that makes its storage, unopened. */
export const STORES: Readonly<Record<Settings['STORE'], () => Promise<MakeStorage>>> = {
  memory: async () => (_settings, options) => memoryStorage(options),
  sqlite: async () => {
    const { sqliteStorage } = await import('./sqlite-storage.js');
    return ({ SQLITE_FILE: file }, options) => sqliteStorage({ file, ...options });
  },
  mongodb: async () => {
    const { mongoStorage } = await import('./mongo-storage.js');
    return ({ MONGODB_URL: url }, options) => mongoStorage({ url, ...options });
  },
};

/** The storage of STORE=memory, which loads no driver. */
export function memoryStorage({ budget }: StorageOptions): Storage {
  const tombstones = new Map(TABLES.map((table) => [table, new MemoryTombstones()]));
  const reservations = idempotencyStores(() => new MemoryIdempotencyStore());
  const usage = new MemoryUsageStore();
  return {
    store: new MemoryStore(),
    ...repositories((table) => new MemoryRepository(table, budget, tombstones.get(table))),
    reservations,
    usage,
    archives: { records: [], reservations: [] },
    purgeable: [
      ...Object.values(reservations),
      ...EXPIRING_TABLES.flatMap((table) => tombstones.get(table) ?? []),
      usage,
    ],
    searchIndexes: [],
  };
}
