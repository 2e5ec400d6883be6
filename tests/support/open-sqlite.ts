import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sqliteStorage } from '#src/composition/sqlite-storage.js';
import type { OpenRepository } from '../contract/repository.contract.js';
import { ENDLESS } from './tables.js';

/** @param folder for the file, which is gone when the store is closed */
export async function openSqlite(folder: string, budget = ENDLESS): Promise<OpenRepository> {
  const own = await mkdtemp(join(folder, 'sqlite-'));
  const file = join(own, 'catalogue.sqlite');
  const { store, ...stored } = sqliteStorage({ file, budget });
  await store.open();
  return {
    ...stored,
    close: async () => {
      await store.close();
      await rm(own, { recursive: true });
    },
  };
}
