import type { QueryBudget } from '../../../application/maintenance/query-budget.js';
import type { StorageParts } from '../../../application/ports/table-store.js';
import { MemoryIdempotencyStore } from './idempotency-store.js';
import { MemoryRepository, MemoryStore, MemoryTombstones } from './repository.js';
import { MemoryUsageStore } from './usage-store.js';

export function memoryStorage({ budget }: { readonly budget: QueryBudget }): StorageParts {
  const usage = new MemoryUsageStore();
  return {
    store: new MemoryStore(),
    usage,
    expiringUsage: usage,
    table: (table) => {
      const tombstones = new MemoryTombstones();
      const reservations = new MemoryIdempotencyStore();
      return {
        records: new MemoryRepository(table, budget, tombstones),
        reservations,
        expiring: { reservations, tombstones },
      };
    },
  };
}
