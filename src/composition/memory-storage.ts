import { MemoryIdempotencyStore } from '../adapters/outbound/memory/idempotency-store.js';
import { MemoryRepository, MemoryStore, MemoryTombstones } from '../adapters/outbound/memory/repository.js';
import type { Storage, StorageOptions } from './storage.js';
import { EXPIRING_TABLES, idempotencyStores, repositories, TABLES } from './tables.js';

export function memoryStorage({ budget }: StorageOptions): Storage {
  const tombstones = new Map(TABLES.map((table) => [table, new MemoryTombstones()]));
  const reservations = idempotencyStores(() => new MemoryIdempotencyStore());
  return {
    store: new MemoryStore(),
    ...repositories((table) => new MemoryRepository(table, budget, tombstones.get(table))),
    reservations,
    archives: { records: [], reservations: [] },
    purgeable: [
      ...Object.values(reservations),
      ...EXPIRING_TABLES.flatMap((table) => tombstones.get(table) ?? []),
    ],
  };
}
