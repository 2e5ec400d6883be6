import { MongoArchive, MongoReservationArchive } from '../adapters/outbound/mongo/archive.js';
import { mongoTable } from '../adapters/outbound/mongo/documents.js';
import { MongoIdempotencyStore } from '../adapters/outbound/mongo/idempotency-store.js';
import {
  type CollectionIndexes,
  recordIndexes,
  reservationExpiry,
  tombstoneExpiry,
  usageIndexes,
} from '../adapters/outbound/mongo/indexes.js';
import { MongoRepository } from '../adapters/outbound/mongo/repository.js';
import { MongoSearchIndex } from '../adapters/outbound/mongo/search-index.js';
import { MongoStore } from '../adapters/outbound/mongo/store.js';
import { MongoUsageStore } from '../adapters/outbound/mongo/usage-store.js';
import type { WordsState } from '../adapters/outbound/mongo/words.js';
import type { RecordTable } from '../application/ports/list-query.js';
import type { Storage, StorageOptions } from './storage.js';
import { EXPIRING_TABLES, idempotencyStores, RESOURCE_TABLES, repositories, TABLES } from './tables.js';

export interface MongoStorageOptions extends StorageOptions {
  readonly url: string;
}

/** The indexes of all collections. */
export function mongoIndexes(): CollectionIndexes[] {
  return [
    ...TABLES.map(recordIndexes),
    ...EXPIRING_TABLES.map(tombstoneExpiry),
    ...RESOURCE_TABLES.map(reservationExpiry),
    usageIndexes(),
  ];
}

/** @throws StoreConfigError */
export function mongoStorage({ url, budget }: MongoStorageOptions): Storage {
  const store = new MongoStore(url, mongoIndexes(), budget);
  const states = new Map(TABLES.map((table): [RecordTable, WordsState] => [table, { areCurrent: false }]));
  return {
    store,
    ...repositories((table) => new MongoRepository(store, mongoTable(table), states.get(table))),
    reservations: idempotencyStores((table) => new MongoIdempotencyStore(store, table)),
    usage: new MongoUsageStore(store),
    archives: {
      records: TABLES.map((table) => new MongoArchive(store, mongoTable(table))),
      reservations: RESOURCE_TABLES.map((table) => new MongoReservationArchive(store, table)),
    },
    purgeable: [],
    searchIndexes: [...states]
      .filter(([{ searched }]) => searched.length > 0)
      .map(([table, state]) => new MongoSearchIndex(store, mongoTable(table), state)),
  };
}
