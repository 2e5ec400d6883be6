import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { SystemClock } from '../adapters/outbound/system/clock.js';
import {
  ArchiveCopy,
  CopyError,
  type CopyReport,
  copyRecords,
  type Progress,
  whileUnchanged,
} from '../application/maintenance/copy-archive.js';
import { recordRules, reservationRules, TOMBSTONE_NEEDED_MS } from '../application/maintenance/copy-rules.js';
import { QueryBudget } from '../application/maintenance/query-budget.js';
import { SourceMissing } from '../application/ports/backup.js';
import type { StoreName } from '../config/settings.js';
import type { Instant } from '../domain/record.js';
import type { Archives, Storage } from './storage.js';
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
    return await whileUnchanged(source.archives.records, () =>
      copyArchives(source.archives, target.archives, progress),
    );
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

async function copyArchives(from: Archives, to: Archives, progress: Progress): Promise<CopyReport[]> {
  const reports: CopyReport[] = [];
  for (const archive of from.records) {
    const rules = recordRules(tombstonesSince(archive.name, CLOCK.now()));
    reports.push(await copyRecords(archive, counterpart(archive, to.records), rules, progress));
  }
  for (const archive of from.reservations) {
    const rules = reservationRules(CLOCK.now());
    const target = counterpart(archive, to.reservations);
    reports.push(await new ArchiveCopy(archive, target, rules, progress).make());
  }
  return reports;
}

function counterpart<Kind extends { readonly name: string }>({ name }: Kind, others: readonly Kind[]): Kind {
  const found = others.find((other) => other.name === name);
  if (!found) throw new CopyError(`The target keeps no ${name}.`);
  return found;
}

function tombstonesSince(name: string, now: Instant): Instant {
  const expires = EXPIRING_TABLES.some((table) => table.name === name);
  return expires ? now - TOMBSTONE_NEEDED_MS : Number.NEGATIVE_INFINITY;
}

/** @returns undefined if the URL is not of this store */
type StorageAt = (url: string) => Promise<Storage> | undefined;

/** Every store whose data outlives the process, by the form of its URL. */
const STORAGE_AT: Readonly<Record<Exclude<StoreName, 'memory'>, StorageAt>> = {
  sqlite: (url) => {
    const file = sqliteFile(url);
    return file === undefined
      ? undefined
      : import('./sqlite-storage.js').then(({ sqliteStorage }) => sqliteStorage({ file, budget: BUDGET }));
  },
  mongodb: (url) =>
    /^mongodb(\+srv)?:\/\//.test(url)
      ? import('./mongo-storage.js').then(({ mongoStorage }) =>
          mongoStorage({ url: withCopyTimeout(url), budget: BUDGET }),
        )
      : undefined,
};

async function storageAt(url: string): Promise<Storage> {
  for (const open of Object.values(STORAGE_AT)) {
    const storage = await open(url);
    if (storage) return storage;
  }
  throw new CopyError('A store is named by sqlite:FILE or mongodb://…');
}

function sqliteFile(url: string): string | undefined {
  return /^sqlite:(?:\/\/)?(.+)$/.exec(url)?.[1];
}

/** Raises the socket timeout, because the timeout of a responsive service would end a copy early. 0 means none. */
function withCopyTimeout(url: string): string {
  const [parameter, name, value] = /([?&]socketTimeoutMS=)(\d*)/i.exec(url) ?? [];
  if (parameter) return Number(value) > 0 ? url : url.replace(parameter, `${name}${COPY_TIMEOUT_MS}`);
  const [base = '', query] = url.split('?', 2);
  const database = /^mongodb(?:\+srv)?:\/\/[^/]+$/.test(base) ? '/' : '';
  return `${base}${database}?${query ? `${query}&` : ''}socketTimeoutMS=${COPY_TIMEOUT_MS}`;
}
