import { existsSync } from 'node:fs';
import { SystemClock } from '../adapters/outbound/system/system-clock.js';
import { CopyError, type CopyReport, copyArchive, type Progress } from '../application/copy-archive.js';
import { QueryBudget } from '../application/query-budget.js';
import { STORES, type Stored } from './stores.js';

const COPY_TIMEOUT_MS = 60_000;
/** Copying asks for no lists. */
const BUDGET = new QueryBudget(new SystemClock(), COPY_TIMEOUT_MS);

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
    const reports: CopyReport[] = [];
    for (const archive of source.archives) {
      const other = target.archives.find(({ name }) => name === archive.name);
      if (!other) throw new CopyError(`The target keeps no ${archive.name}.`);
      reports.push(await copyArchive(archive, other, progress));
    }
    return reports;
  } finally {
    await Promise.allSettled([source.store.close(), target.store.close()]);
  }
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
  if (/[?&]socketTimeoutMS=/.test(url)) return url;
  const [base = '', query] = url.split('?', 2);
  const database = /^mongodb(?:\+srv)?:\/\/[^/]+$/.test(base) ? '/' : '';
  return `${base}${database}?${query ? `${query}&` : ''}socketTimeoutMS=${COPY_TIMEOUT_MS}`;
}
