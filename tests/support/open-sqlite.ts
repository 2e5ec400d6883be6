import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SqliteArchive } from '#src/adapters/outbound/sqlite/sqlite-archive.js';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/sqlite-database.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/sqlite-repository.js';
import type { Product } from '#src/domain/product.js';
import type { User } from '#src/domain/user.js';
import type { OpenArchive } from '../contract/archive.contract.js';
import { ENDLESS, PRODUCTS, USERS } from './tables.js';

/** @param folder for the file, which is gone when the store is closed */
export async function openSqlite(folder: string): Promise<OpenArchive> {
  const own = await mkdtemp(join(folder, 'sqlite-'));
  const database = new SqliteDatabase(join(own, 'catalogue.sqlite'));
  await database.open();
  return {
    products: new SqliteRepository<Product>(database, PRODUCTS, ENDLESS),
    users: new SqliteRepository<User>(database, USERS, ENDLESS),
    archive: new SqliteArchive(database, PRODUCTS),
    close: async () => {
      await database.close();
      await rm(own, { recursive: true });
    },
  };
}
