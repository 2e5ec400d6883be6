import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sqliteStorage } from '#src/adapters/outbound/sqlite/storage.js';
import type { QueryBudget } from '#src/application/maintenance/query-budget.js';
import { storageOf } from '#src/composition/storage.js';
import type { OpenRepository, SharedRepository } from '../contract/repository/test-store.js';
import { ENDLESS } from './tables.js';

/**
 * Opens the repositories of a new SQLite file.
 * @param folder for the file, which `close` deletes
 */
export async function openSqlite(folder: string, budget = ENDLESS): Promise<SharedRepository> {
  const directory = await mkdtemp(join(folder, 'sqlite-'));
  const file = join(directory, 'catalogue.sqlite');
  const opened = await openFile(file, budget);
  return {
    ...opened,
    again: () => openFile(file, budget),
    close: async () => {
      await opened.close();
      await rm(directory, { recursive: true });
    },
  };
}

async function openFile(file: string, budget: QueryBudget): Promise<OpenRepository> {
  const { store, ...storage } = storageOf(sqliteStorage({ file, budget }));
  await store.open();
  return { ...storage, close: () => store.close() };
}
