import { MemoryRepository } from '../adapters/outbound/memory/memory-repository.js';
import { MemoryStore } from '../adapters/outbound/memory/memory-store.js';
import { MongoArchive } from '../adapters/outbound/mongo/mongo-archive.js';
import { MongoRepository } from '../adapters/outbound/mongo/mongo-repository.js';
import { MongoStore } from '../adapters/outbound/mongo/mongo-store.js';
import { mongoTable } from '../adapters/outbound/mongo/mongo-table.js';
import { SqliteArchive } from '../adapters/outbound/sqlite/sqlite-archive.js';
import { SqliteDatabase } from '../adapters/outbound/sqlite/sqlite-database.js';
import { SqliteRepository } from '../adapters/outbound/sqlite/sqlite-repository.js';
import type { Archive } from '../application/ports/archive.js';
import type { Store } from '../application/ports/store.js';
import type { QueryBudget } from '../application/query-budget.js';
import type { Settings } from '../config/settings.js';
import { type Repositories, repositories, TABLES } from './tables.js';

/** A store and the repositories that live in it. */
export interface Stored extends Repositories {
  readonly store: Store;
  /** All of it, for copying; empty where nothing outlives the process. */
  readonly archives: readonly Archive[];
}

type StoreSettings = Pick<Settings, 'SQLITE_FILE' | 'MONGODB_URL'>;

/** For each value of the setting STORE, the adapters that it stands for. */
export const STORES: Readonly<
  Record<Settings['STORE'], (settings: StoreSettings, budget: QueryBudget) => Stored>
> = {
  memory: (_, budget) => ({
    store: new MemoryStore(),
    ...repositories((table) => new MemoryRepository(table, budget)),
    archives: [],
  }),

  sqlite: ({ SQLITE_FILE }, budget) => {
    const store = new SqliteDatabase(SQLITE_FILE);
    return {
      store,
      ...repositories((table) => new SqliteRepository(store, table, budget)),
      archives: TABLES.map((table) => new SqliteArchive(store, table)),
    };
  },

  mongodb: ({ MONGODB_URL }, budget) => {
    const store = new MongoStore(MONGODB_URL, TABLES, budget);
    return {
      store,
      ...repositories((table) => new MongoRepository(store, mongoTable(table))),
      archives: TABLES.map((table) => new MongoArchive(store, mongoTable(table))),
    };
  },
};
