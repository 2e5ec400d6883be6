import { UNFINISHED_COPY } from '../../../application/ports/archive.js';
import type { StorageParts } from '../../../application/ports/table-store.js';
import type { StorageOptions } from '../../../application/records/storage-options.js';
import { SqliteDatabase } from './connection/database.js';
import { SqliteArchive } from './records/archive.js';
import { SqliteChangeFeed, SqliteFeedState } from './records/change-feed.js';
import { derivedDataLease, SqliteDerivedTable } from './records/derived-data.js';
import { SqliteRepository } from './records/repository.js';
import { SqliteReservations, SqliteUsageStore } from './records/small-tables.js';

type Options = StorageOptions & { readonly file: string };

export function sqliteStorage({ file, tables, budget, logger }: Options): StorageParts {
  const store = new SqliteDatabase(file, logger);
  const usage = new SqliteUsageStore(store);
  return {
    store,
    feedState: new SqliteFeedState(store, tables),
    derived: {
      tables: tables.map((table) => new SqliteDerivedTable(store, table)),
      ...derivedDataLease(store),
    },
    usage,
    expiringUsage: usage,
    unfinishedCopy: new SqliteReservations(store, UNFINISHED_COPY),
    table: (table) => {
      const reservations = new SqliteReservations(store, table);
      const records = new SqliteArchive(store, table);
      return {
        records: new SqliteRepository(store, table, budget, logger),
        reservations,
        changes: new SqliteChangeFeed(store, table),
        expiring: { reservations, tombstones: records },
        archives: { records, reservations },
      };
    },
  };
}
