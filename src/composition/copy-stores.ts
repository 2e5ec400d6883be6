import { SystemClock } from '../adapters/outbound/system/clock.js';
import {
  CopyError,
  type CopyOptions,
  type CopyReport,
  claimTarget,
  copyArchives,
  releaseTarget,
  type TableRules,
} from '../application/maintenance/copy.js';
import type { StorageParts } from '../application/ports/table-store.js';
import { QueryBudget } from '../application/records/lists.js';
import { asPaused, type Webhook } from '../domain/webhook.js';
import { storageOf } from './storage.js';
import { STORES, type StoreAt, type Stores, storeAt, storeUrlForms } from './stores/index.js';
import { EXPIRING_TABLES, RECORD_TABLES, TABLES } from './tables.js';

/** The timeout of a responsive service would end a copy early. */
const COPY_TIMEOUT_MS = 60_000;
const CLOCK = new SystemClock();
/** Required by every storage. A copy runs no query that it limits. */
const BUDGET = new QueryBudget(CLOCK, COPY_TIMEOUT_MS);

const RULES: TableRules = {
  expiring: EXPIRING_TABLES.map(({ name }) => name),
  // The store itself may go on to send.
  copiedFields: { [RECORD_TABLES.webhooks.name]: (fields) => asPaused(fields as Webhook) },
};

/**
 * Copies everything that one store keeps to another, which is empty.
 * @param from,to URLs of stores, see {@link storeUrlForms}
 * @throws CopyError, StoreConfigError; AppError `unavailable`. The target is marked then, and does not open
 */
export async function copyStores(
  from: string,
  to: string,
  options: CopyOptions,
  stores: Stores = STORES,
): Promise<CopyReport[]> {
  const source = storageOf(await partsAt(from, stores));
  const targetParts = await partsAt(to, stores);
  const target = storageOf(targetParts);
  if (source.store.location === target.store.location) throw new CopyError('Both are the same store.');
  try {
    await source.store.open();
    // Marked or not.
    await targetParts.store.open();
    await claimTarget(target.archives, CLOCK, options);
    const reports = await copyArchives(source.archives, target.archives, RULES, CLOCK, options.progress);
    // The feeds of the target do not show what a copy writes: what was taken of an earlier content expires.
    await target.feedState.reset();
    await releaseTarget(target.archives);
    return reports;
  } finally {
    await Promise.allSettled([source.store.close(), target.store.close()]);
  }
}

/**
 * Requires that nobody uses the store that is to be copied, if the store can tell.
 * @throws CopyError, SourceMissing, StoreInUse
 */
export async function requireUnused(from: string): Promise<void> {
  const { kept, settings } = named(from, STORES);
  await kept.requireUnused?.(settings);
}

async function partsAt(url: string, stores: Stores): Promise<StorageParts> {
  const { store, settings } = named(url, stores);
  const makeParts = await store.load(settings);
  return makeParts({ tables: TABLES, budget: BUDGET, callTimeoutMs: COPY_TIMEOUT_MS });
}

/** @throws CopyError */
function named(url: string, stores: Stores): StoreAt {
  const at = storeAt(url, stores);
  if (!at) throw new CopyError(`A store is named by ${storeUrlForms(stores)}`);
  return at;
}
