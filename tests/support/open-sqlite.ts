import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SqliteArchive } from '#src/adapters/outbound/sqlite/sqlite-archive.js';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/sqlite-database.js';
import { SqliteRepository } from '#src/adapters/outbound/sqlite/sqlite-repository.js';
import { PRODUCTS, repositories } from '#src/composition/tables.js';
import type { OpenArchive } from '../contract/archive.contract.js';
import { ENDLESS } from './tables.js';

/** @param folder for the file, which is gone when the store is closed */
export async function openSqlite(folder: string, budget = ENDLESS): Promise<OpenArchive> {
  const own = await mkdtemp(join(folder, 'sqlite-'));
  const database = new SqliteDatabase(join(own, 'catalogue.sqlite'));
  await database.open();
  return {
    ...repositories((table) => new SqliteRepository(database, table, budget)),
    archive: new SqliteArchive(database, PRODUCTS),
    close: async () => {
      await database.close();
      await rm(own, { recursive: true });
    },
  };
}
