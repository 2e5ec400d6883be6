import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sqliteStorage } from '#src/composition/sqlite-storage.js';
import type { OpenRepository } from '../contract/repository.contract.js';
import { ENDLESS } from './tables.js';

/**
 * Opens the repositories of a new SQLite file.
 * @param folder for the file, which `close` deletes
 */
export async function openSqlite(folder: string, budget = ENDLESS): Promise<OpenRepository> {
  const directory = await mkdtemp(join(folder, 'sqlite-'));
  const file = join(directory, 'catalogue.sqlite');
  const { store, ...storage } = sqliteStorage({ file, budget });
  await store.open();
  return {
    ...storage,
    close: async () => {
      await store.close();
      await rm(directory, { recursive: true });
    },
  };
}
