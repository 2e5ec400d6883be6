import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { SystemClock } from '../adapters/outbound/system/clock.js';
import {
  CopyError,
  type CopyReport,
  copyArchives,
  type Progress,
} from '../application/maintenance/copy-archive.js';
import { QueryBudget } from '../application/maintenance/query-budget.js';
import { SourceMissing } from '../application/ports/backup.js';
import type { StoreName } from '../config/settings.js';
import type { Storage } from './storage.js';
import { EXPIRING_TABLES } from './tables.js';

const COPY_TIMEOUT_MS = 60_000;
const CLOCK = new SystemClock();
/** Required by every storage. A copy runs no query that it limits. */
const BUDGET = new QueryBudget(CLOCK, COPY_TIMEOUT_MS);

/**
 * Copies everything that one store keeps to another.
 * @param from,to `sqlite:FILE` or a MongoDB connection string
 * @throws CopyError, StoreConfigError; AppError `unavailable`
 */
export async function copyStores(from: string, to: string, progress: Progress): Promise<CopyReport[]> {
  const source = await storageAt(from);
  const target = await storageAt(to);
  if (source.store.location === target.store.location) throw new CopyError('Both are the same store.');
  try {
    await source.store.open();
    await target.store.open();
    const expiring = EXPIRING_TABLES.map(({ name }) => name);
    return await copyArchives(source.archives, target.archives, expiring, CLOCK, progress);
  } finally {
    await Promise.allSettled([source.store.close(), target.store.close()]);
  }
}

/**
 * Requires that nobody uses a SQLite file that is to be copied: later writes would not be in the copy.
 * @throws SourceMissing, StoreInUse
 */
export async function requireUnused(from: string): Promise<void> {
  const name = sqliteFile(from);
  if (name === undefined) return;
  const file = resolve(name);
  if (!existsSync(file)) throw new SourceMissing(`There is no file ${file}.`);
  const { closeExclusively, openExclusively } = await import(
    '../adapters/outbound/sqlite/connection/exclusive-lock.js'
  );
  closeExclusively(openExclusively(file));
}

/** Makes a storage by the form of its URL. Undefined: the URL is not of this store. */
type StorageAt = (url: string) => Promise<Storage | undefined>;

/** Every store whose data outlives the process. */
const STORAGE_AT: Readonly<Record<Exclude<StoreName, 'memory'>, StorageAt>> = {
  sqlite: async (url) => {
    const file = sqliteFile(url);
    if (file === undefined) return undefined;
    const { sqliteStorage } = await import('./sqlite-storage.js');
    return sqliteStorage({ file, budget: BUDGET });
  },
  mongodb: async (url) => {
    if (!/^mongodb(\+srv)?:\/\//.test(url)) return undefined;
    const { mongoStorage } = await import('./mongo-storage.js');
    const { withSocketTimeout } = await import('../adapters/outbound/mongo/connection.js');
    // The timeout of a responsive service would end a copy early.
    return mongoStorage({ url: withSocketTimeout(url, COPY_TIMEOUT_MS), budget: BUDGET });
  },
};

async function storageAt(url: string): Promise<Storage> {
  for (const make of Object.values(STORAGE_AT)) {
    const storage = await make(url);
    if (storage) return storage;
  }
  throw new CopyError('A store is named by sqlite:FILE or mongodb://…');
}

function sqliteFile(url: string): string | undefined {
  return /^sqlite:(?:\/\/)?(.+)$/.exec(url)?.[1];
}
