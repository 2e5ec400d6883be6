import type { QueryBudget } from '../../../application/maintenance/query-budget.js';
import { RESERVATION_MS, TOMBSTONE_MS, USAGE_MS } from '../../../application/maintenance/retention.js';
import type { Logger } from '../../../application/ports/logger.js';
import type { StorageParts, StoredTable } from '../../../application/ports/table-store.js';
import { PostgresqlArchive, PostgresqlReservationArchive } from './archive.js';
import { withStatementTimeout } from './connection.js';
import { ExpiringRows } from './expiry.js';
import { PostgresqlFeed, PostgresqlFeedState } from './feed.js';
import { PostgresqlIdempotencyStore } from './idempotency-store.js';
import { PostgresqlRepository } from './repository.js';
import { PostgresqlSearchIndex } from './search-index.js';
import { TableWrites } from './statements.js';
import { PostgresqlStore } from './store.js';
import { PostgresqlUsageStore } from './usage-store.js';

export interface PostgresqlStorageOptions {
  readonly url: string;
  readonly tables: readonly StoredTable[];
  readonly budget: QueryBudget;
  /** Absent in commands, which report the error that ends them. */
  readonly logger?: Logger;
  /** How long a call may take if the URL does not say it. Absent: as long as a responsive service permits. */
  readonly callTimeoutMs?: number;
  /** Whether each connection is a session of the server. */
  readonly hasSessions?: boolean;
}

/** @throws StoreConfigError */
export function postgresqlStorage({
  url,
  tables,
  budget,
  logger,
  callTimeoutMs,
  hasSessions,
}: PostgresqlStorageOptions): StorageParts {
  const store = new PostgresqlStore(withStatementTimeout(url, callTimeoutMs), budget, {
    logger,
    hasSessions,
  });
  return {
    store,
    feedState: new PostgresqlFeedState(store, tables),
    usage: new PostgresqlUsageStore(store),
    expiringUsage: new ExpiringRows(store, 'api_key_usage', 'hour', USAGE_MS),
    table: (table) => {
      const { name } = table;
      const writes = new TableWrites(table);
      const ofTable = `resource = '${name}'`;
      return {
        records: new PostgresqlRepository(store, table, writes),
        reservations: new PostgresqlIdempotencyStore(store, table),
        changes: new PostgresqlFeed(store, table),
        expiring: {
          reservations: new ExpiringRows(store, 'reservations', 'reserved_at', RESERVATION_MS, ofTable),
          tombstones: new ExpiringRows(store, name, 'deleted_at', TOMBSTONE_MS),
        },
        archives: {
          records: new PostgresqlArchive(store, table, writes),
          reservations: new PostgresqlReservationArchive(store, table),
        },
        indexes: [new PostgresqlSearchIndex(store, table, writes)],
      };
    },
  };
}
