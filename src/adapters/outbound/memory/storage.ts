import type { StorageParts, StoredTable } from '../../../application/ports/table-store.js';
import type { QueryBudget } from '../../../application/records/lists.js';
import { MemoryFeedState } from './change-feed.js';
import { MemoryIdempotencyStore, MemoryUsageStore } from './expiring.js';
import { MemoryRepository } from './repository.js';

export function memoryStorage({ budget }: { readonly budget: QueryBudget }): StorageParts {
  const feedState = new MemoryFeedState();
  const usage = new MemoryUsageStore();
  return {
    // There is nothing to open and nothing to close.
    store: {
      location: 'the memory of this process (forgotten when it ends)',
      open: async () => {},
      ping: async () => {},
      close: async () => {},
    },
    feedState,
    usage,
    expiringUsage: usage,
    table: <Fields extends object>(table: StoredTable) => {
      const records = new MemoryRepository<Fields>(table, budget, table.hasFeed ? feedState : undefined);
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
