import { existsSync } from 'node:fs';
import { SystemClock } from '../adapters/outbound/system/system-clock.js';
import {
  ArchiveCopy,
  CopyError,
  type CopyReport,
  copyRecords,
  type Progress,
} from '../application/copy-archive.js';
import { recordRules, reservationRules, TOMBSTONE_NEEDED_MS } from '../application/copy-rules.js';
import { QueryBudget } from '../application/query-budget.js';
import type { Instant } from '../domain/record.js';
import { type Archives, STORES, type Stored } from './stores.js';
import { EXPIRING_TABLES } from './tables.js';

const COPY_TIMEOUT_MS = 60_000;
const CLOCK = new SystemClock();
/** Copying asks for no lists. */
const BUDGET = new QueryBudget(CLOCK, COPY_TIMEOUT_MS);

/**
 * Copies all that one store keeps to another.
 * @param from,to `sqlite:FILE` or a MongoDB connection string
 * @throws CopyError, and CatalogueError `unavailable`
 */
export async function copyStores(from: string, to: string, progress: Progress): Promise<CopyReport[]> {
  const source = storedAt(from, true);
  const target = storedAt(to, false);
  if (source.store.location === target.store.location) throw new CopyError('Both are the same store.');
  try {
    await source.store.open();
    await target.store.open();
    return await copyArchives(source.archives, target.archives, progress);
  } finally {
    await Promise.allSettled([source.store.close(), target.store.close()]);
  }
}

async function copyArchives(from: Archives, to: Archives, progress: Progress): Promise<CopyReport[]> {
  const reports: CopyReport[] = [];
  for (const archive of from.records) {
    const rules = recordRules(tombstonesSince(archive.name, CLOCK.now()));
    reports.push(await copyRecords(archive, sameOf(archive, to.records), rules, progress));
  }
  for (const archive of from.reservations) {
    const rules = reservationRules(CLOCK.now());
    reports.push(await new ArchiveCopy(archive, sameOf(archive, to.reservations), rules, progress).make());
  }
  return reports;
}

function sameOf<Kind extends { readonly name: string }>({ name }: Kind, others: readonly Kind[]): Kind {
  const same = others.find((other) => other.name === name);
  if (!same) throw new CopyError(`The target keeps no ${name}.`);
  return same;
}

function tombstonesSince(name: string, now: Instant): Instant {
  const goWithTime = EXPIRING_TABLES.some((table) => table.name === name);
  return goWithTime ? now - TOMBSTONE_NEEDED_MS : Number.NEGATIVE_INFINITY;
}

function storedAt(url: string, mustExist: boolean): Stored {
  const [, file] = /^sqlite:(?:\/\/)?(.+)$/.exec(url) ?? [];
  if (file !== undefined) {
    if (mustExist && !existsSync(file)) throw new CopyError(`There is no file ${file}.`);
    return STORES.sqlite({ SQLITE_FILE: file, MONGODB_URL: '' }, BUDGET);
  }
  if (/^mongodb(\+srv)?:\/\//.test(url))
    return STORES.mongodb({ SQLITE_FILE: '', MONGODB_URL: patient(url) }, BUDGET);
  throw new CopyError('A store is named by sqlite:FILE or mongodb://…');
}

/** A copy has time: what keeps a service answering would only make it give up. */
function patient(url: string): string {
  const [named, name, value] = /([?&]socketTimeoutMS=)(\d*)/i.exec(url) ?? [];
  // 0 stands for none.
  if (named) return Number(value) > 0 ? url : url.replace(named, `${name}${COPY_TIMEOUT_MS}`);
  const [base = '', query] = url.split('?', 2);
  const database = /^mongodb(?:\+srv)?:\/\/[^/]+$/.test(base) ? '/' : '';
  return `${base}${database}?${query ? `${query}&` : ''}socketTimeoutMS=${COPY_TIMEOUT_MS}`;
}
