import { UNFINISHED_COPY } from '../../../application/ports/archive.js';
import type { StorageParts } from '../../../application/ports/table-store.js';
import type { StorageOptions } from '../../../application/records/storage-options.js';
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

type Options = StorageOptions & { readonly url: string };

/** @throws StoreConfigError */
export function mongoStorage({ url, tables, budget, callTimeoutMs }: Options): StorageParts {
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
