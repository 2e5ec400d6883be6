import { TOMBSTONE_MS, USAGE_MS } from '../../../application/maintenance/retention.js';
import { UNFINISHED_COPY } from '../../../application/ports/archive.js';
import type { StorageParts } from '../../../application/ports/table-store.js';
import type { StorageOptions } from '../../../application/records/storage-options.js';
import { PostgresqlArchive } from './archive.js';
import { TableWrites } from './columns.js';
import { withStatementTimeout } from './connection.js';
import { derivedDataLease, PostgresqlDerivedTable } from './derived-data.js';
import { PostgresqlFeed, PostgresqlFeedState } from './feed.js';
import { PostgresqlRepository } from './repository.js';
import { expiringRows, PostgresqlReservations, PostgresqlUsageStore } from './small-tables.js';
import { PostgresqlStore } from './store.js';

interface Options extends StorageOptions {
  readonly url: string;
  /** Whether each connection is a session of the server. */
  readonly hasSessions?: boolean;
}

/** @throws StoreConfigError */
export function postgresqlStorage(options: Options): StorageParts {
  const { url, tables, budget, callTimeoutMs } = options;
  const store = new PostgresqlStore(withStatementTimeout(url, callTimeoutMs), budget, options);
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
