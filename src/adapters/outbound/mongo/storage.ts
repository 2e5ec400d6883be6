import { UNFINISHED_COPY } from '../../../application/ports/archive.js';
import type { StorageParts, StoredTable } from '../../../application/ports/table-store.js';
import type { QueryBudget } from '../../../application/records/lists.js';
import { MongoArchive } from './archive.js';
import { MongoChangeFeed, MongoFeedState } from './change-feed.js';
import { ChangeLog } from './change-log.js';
import { withSocketTimeout } from './connection.js';
import { derivedDataLease, MongoDerivedTable } from './derived-data.js';
import { hasDerivedMembers } from './documents.js';
import { wantedIndexes } from './indexes.js';
import { MongoRepository } from './repository.js';
import { MongoReservations, MongoUsageStore } from './small-tables.js';
import { MongoStore } from './store.js';

export interface MongoStorageOptions {
  readonly url: string;
  readonly tables: readonly StoredTable[];
  readonly budget: QueryBudget;
  /** How long a call may take if the URL does not say it. Absent: as long as a responsive service permits. */
  readonly callTimeoutMs?: number;
}

/** @throws StoreConfigError */
export function mongoStorage({ url, tables, budget, callTimeoutMs }: MongoStorageOptions): StorageParts {
  const patientUrl = callTimeoutMs === undefined ? url : withSocketTimeout(url, callTimeoutMs);
  const store = new MongoStore(patientUrl, wantedIndexes(tables), budget);
  const logs = new Map(
    tables.filter(({ hasFeed }) => hasFeed).map((table) => [table.name, new ChangeLog(store, table)]),
  );
  const feedState = new MongoFeedState(store, [...logs.values()]);
  return {
    store,
    derived: {
      tables: tables.filter(hasDerivedMembers).map((table) => new MongoDerivedTable(store, table)),
      ...derivedDataLease(store),
    },
    feedState,
    usage: new MongoUsageStore(store),
    unfinishedCopy: new MongoReservations(store, UNFINISHED_COPY),
    table: (table) => {
      const reservations = new MongoReservations(store, table);
      const log = logs.get(table.name) ?? new ChangeLog(store, table);
      return {
        records: new MongoRepository(store, table, table.hasFeed ? feedState : undefined),
        changes: new MongoChangeFeed(log),
        reservations,
        archives: { records: new MongoArchive(store, table), reservations },
      };
    },
  };
}
