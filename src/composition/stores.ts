import { MemoryRepository } from '../adapters/outbound/memory/memory-repository.js';
import { MemoryStore } from '../adapters/outbound/memory/memory-store.js';
import { MongoArchive } from '../adapters/outbound/mongo/mongo-archive.js';
import { MongoRepository } from '../adapters/outbound/mongo/mongo-repository.js';
import { MongoStore } from '../adapters/outbound/mongo/mongo-store.js';
import { attributesAsList, type MongoTable } from '../adapters/outbound/mongo/mongo-table.js';
import { SqliteArchive } from '../adapters/outbound/sqlite/sqlite-archive.js';
import { SqliteDatabase } from '../adapters/outbound/sqlite/sqlite-database.js';
import { SqliteRepository } from '../adapters/outbound/sqlite/sqlite-repository.js';
import { FIRST_KEY_ID } from '../application/key-administration.js';
import type { Archive } from '../application/ports/archive.js';
import type { Repository } from '../application/ports/repository.js';
import type { Store } from '../application/ports/store.js';
import type { Settings } from '../config/settings.js';
import type { ApiKey } from '../domain/access.js';
import type { Product } from '../domain/product.js';

/** A store and the repositories that live in it. */
export interface Stored {
  readonly store: Store;
  readonly products: Repository<Product>;
  readonly apiKeys: Repository<ApiKey>;
  /** All of it, for copying; empty where nothing outlives the process. */
  readonly archives: readonly Archive[];
}

const PRODUCT_TABLE = { name: 'products', unique: ['sku'], firstId: 1 } as const;
const API_KEY_TABLE = { name: 'api_keys', unique: ['digest'], firstId: FIRST_KEY_ID + 1 } as const;

const PRODUCT_COLLECTION: MongoTable<Product> = { ...PRODUCT_TABLE, ...attributesAsList() };
const API_KEY_COLLECTION: MongoTable<ApiKey> = {
  ...API_KEY_TABLE,
  toDocument: (key) => ({ ...key }),
  toFields: (document) => document as ApiKey,
};

/** For each value of the setting STORE, the adapters that it stands for. */
export const STORES: Readonly<
  Record<Settings['STORE'], (settings: Pick<Settings, 'SQLITE_FILE' | 'MONGODB_URL'>) => Stored>
> = {
  memory: () => ({
    store: new MemoryStore(),
    products: new MemoryRepository<Product>(PRODUCT_TABLE),
    apiKeys: new MemoryRepository<ApiKey>(API_KEY_TABLE),
    archives: [],
  }),
  sqlite: ({ SQLITE_FILE }) => {
    const store = new SqliteDatabase(SQLITE_FILE);
    return {
      store,
      products: new SqliteRepository<Product>(store, PRODUCT_TABLE),
      apiKeys: new SqliteRepository<ApiKey>(store, API_KEY_TABLE),
      archives: [PRODUCT_TABLE, API_KEY_TABLE].map((table) => new SqliteArchive(store, table)),
    };
  },
  mongodb: ({ MONGODB_URL }) => {
    const store = new MongoStore(MONGODB_URL, [PRODUCT_COLLECTION, API_KEY_COLLECTION]);
    return {
      store,
      products: new MongoRepository(store, PRODUCT_COLLECTION),
      apiKeys: new MongoRepository(store, API_KEY_COLLECTION),
      archives: [new MongoArchive(store, PRODUCT_COLLECTION), new MongoArchive(store, API_KEY_COLLECTION)],
    };
  },
};
