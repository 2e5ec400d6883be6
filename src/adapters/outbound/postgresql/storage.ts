import { TOMBSTONE_MS, USAGE_MS } from '../../../application/maintenance/retention.js';
import { UNFINISHED_COPY } from '../../../application/ports/archive.js';
import type { Logger } from '../../../application/ports/logger.js';
import type { StorageParts, StoredTable } from '../../../application/ports/table-store.js';
import type { QueryBudget } from '../../../application/records/lists.js';
import { PostgresqlArchive } from './archive.js';
import { TableWrites } from './columns.js';
import { withStatementTimeout } from './connection.js';
import { derivedDataLease, PostgresqlDerivedTable } from './derived-data.js';
import { PostgresqlFeed, PostgresqlFeedState } from './feed.js';
import { PostgresqlRepository } from './repository.js';
import { expiringRows, PostgresqlReservations, PostgresqlUsageStore } from './small-tables.js';
import { PostgresqlStore } from './store.js';

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
  const writesOf = new Map(tables.map((table) => [table.name, new TableWrites(table)]));
  return {
    store,
    derived: {
      tables: [...writesOf].map(([name, writes]) => new PostgresqlDerivedTable(store, name, writes)),
      ...derivedDataLease(store),
    },
    feedState: new PostgresqlFeedState(store, tables),
    usage: new PostgresqlUsageStore(store),
    unfinishedCopy: new PostgresqlReservations(store, UNFINISHED_COPY.name),
    expiringUsage: expiringRows(store, 'api_key_usage', 'hour', USAGE_MS),
    table: (table) => {
      const writes = writesOf.get(table.name) ?? new TableWrites(table);
      const reservations = new PostgresqlReservations(store, table.name);
      return {
        records: new PostgresqlRepository(store, table, writes),
        reservations,
        changes: new PostgresqlFeed(store, table),
        expiring: {
          reservations: reservations.expiring,
          tombstones: expiringRows(store, table.name, 'deleted_at', TOMBSTONE_MS),
        },
        archives: { records: new PostgresqlArchive(store, table, writes), reservations },
      };
    },
  };
}
