import type { QueryBudget } from '../../../application/maintenance/query-budget.js';
import type { RecordTable } from '../../../application/ports/list-query.js';
import type { StorageParts } from '../../../application/ports/table-store.js';
import { MemoryFeedState } from './change-feed.js';
import { MemoryIdempotencyStore } from './idempotency-store.js';
import { MemoryRepository, MemoryStore } from './repository.js';
import { MemoryUsageStore } from './usage-store.js';

export function memoryStorage({ budget }: { readonly budget: QueryBudget }): StorageParts {
  const feedState = new MemoryFeedState();
  const usage = new MemoryUsageStore();
  return {
    store: new MemoryStore(),
    feedState,
    usage,
    expiringUsage: usage,
    table: <Fields extends object>(table: RecordTable) => {
      const records = new MemoryRepository<Fields>(table, budget, feedState);
      const { tombstones, changes } = records;
      const reservations = new MemoryIdempotencyStore();
      return {
        records,
        reservations,
        changes,
        expiring: { reservations, tombstones },
      };
    },
  };
}
