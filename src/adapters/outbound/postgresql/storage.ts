import type { QueryBudget } from '../../../application/maintenance/query-budget.js';
import type { StorageParts } from '../../../application/ports/table-store.js';
import { PostgresqlArchive, PostgresqlReservationArchive } from './archive.js';
import { withStatementTimeout } from './connection.js';
import { PostgresqlIdempotencyStore } from './idempotency-store.js';
import { PostgresqlRepository } from './repository.js';
import { PostgresqlSearchIndex } from './search-index.js';
import { PostgresqlStore } from './store.js';
import { PostgresqlTombstones } from './tombstones.js';
import { PostgresqlUsageStore } from './usage-store.js';

export interface PostgresqlStorageOptions {
  readonly url: string;
  readonly budget: QueryBudget;
  /** How long a call may take if the URL does not say it. Absent: as long as a responsive service permits. */
  readonly callTimeoutMs?: number;
}

/** @throws StoreConfigError */
export function postgresqlStorage({ url, budget, callTimeoutMs }: PostgresqlStorageOptions): StorageParts {
  const store = new PostgresqlStore(withStatementTimeout(url, callTimeoutMs), budget);
  const usage = new PostgresqlUsageStore(store);
  return {
    store,
    usage,
    expiringUsage: usage,
    table: (table) => {
      const reservations = new PostgresqlIdempotencyStore(store, table);
      return {
        records: new PostgresqlRepository(store, table),
        reservations,
        expiring: { reservations, tombstones: new PostgresqlTombstones(store, table) },
        archives: {
          records: new PostgresqlArchive(store, table),
          reservations: new PostgresqlReservationArchive(store, table),
        },
        words: new PostgresqlSearchIndex(store, table),
      };
    },
  };
}
