import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Seeding, seeding } from '../adapters/inbound/cli/samples.js';
import { PRODUCTS } from '../adapters/inbound/http/resources/definitions.js';
import { SystemClock } from '../adapters/outbound/system/clock.js';
import type { ApiKeyService } from '../application/auth/api-keys.js';
import type { SigningKeys } from '../application/auth/signing-keys.js';
import { GENERATION_MS } from '../application/changes/feed-state.js';
import type { CopyOptions, CopyReport } from '../application/maintenance/copy.js';
import {
  type BackupProgress,
  type RestoreReport,
  SourceMissing,
  StoreConfigError,
} from '../application/ports/store.js';
import { newDraft } from '../application/records/record-format.js';
import type { Settings } from '../config/settings.js';
import type { Application } from './application.js';
import { copyStores as copyAll, requireUnused } from './copy-stores.js';
import { STORES, storesWith } from './stores/index.js';
import type { StoreBackup, StoreRegistration } from './stores/registration.js';

export { newApiKey as generateKey } from '../adapters/outbound/system/random.js';
export { checkService } from './check.js';

/**
 * Runs `use` with the API keys and the signing keys of the configured store. A service may use the store meanwhile.
 * @param use runs while the store is open
 * @param onNewDatabase is told the file before that if there was no database and one has been created
 * @throws AppError `unavailable`; StoreConfigError, also if nothing outlives the process of the store
 * @throws SourceMissing if there is no database, and nobody to tell
 */
export async function administerKeys<Result>(
  settings: Settings,
  use: (keys: ApiKeyService, signingKeys: SigningKeys) => Promise<Result>,
  onNewDatabase?: (file: string) => void,
): Promise<Result> {
  const missing = missingDatabase(settings);
  if (missing && !onNewDatabase) throw noDatabase(missing);
  return withStore(settings, ({ apiKeys, signingKeys }) => {
    if (missing) onNewDatabase?.(missing);
    return use(apiKeys, signingKeys);
  });
}

/** Runs `use` with the seeding of sample products. Creates the database if there is none. */
export function seedStore<Result>(settings: Settings, use: (seeding: Seeding) => Promise<Result>): Promise<Result> {
  return withStore(settings, ({ storage: { products }, resources }) => {
    const { service } = resources.products;
    const draftOf = (body: unknown) => newDraft(PRODUCTS, body);
    return use(seeding(products, (ids) => service.writer(undefined, ids), draftOf));
  });
}

/**
 * Copies everything that one store keeps to another, as {@link copyAll} does.
 * @throws SourceMissing; StoreInUse if another program has the file of the source open
 */
export async function copyStores(from: string, to: string, options: CopyOptions): Promise<CopyReport[]> {
  await requireUnused(from);
  return copyAll(from, to, options);
}

/**
 * Copies the configured store to a new file. A service may use the store meanwhile.
 * @returns the size of the file in bytes
 * @throws BackupTargetError; StoreConfigError, also if the store has no such backup
 */
export async function backUpStore(settings: Settings, file: string, progress: BackupProgress): Promise<number> {
  return backupOf(settings, 'backup').create(settings, file, progress);
}

/**
 * Puts a copy of a backup in the place of the configured store, which nobody may have open.
 * @throws SourceMissing, BackupUnusable, BackupTargetError, StoreInUse; StoreConfigError, also if the store has no such backup
 */
export async function restoreStore(settings: Settings, file: string, progress: BackupProgress): Promise<RestoreReport> {
  return backupOf(settings, 'restore').restore(settings, file, new SystemClock().now(), progress);
}

/**
 * Begins a new generation of the store, and makes all positions of the feeds expire. A service may use the store
 * meanwhile: when this resolves, each of its processes knows the generation.
 * @throws SourceMissing if there is no database; AppError `unavailable`; StoreConfigError
 */
export async function resetFeeds(settings: Settings): Promise<void> {
  const missing = missingDatabase(settings);
  if (missing) throw noDatabase(missing);
  await withStore(settings, ({ storage }) => storage.feedState.reset());
  // A timer can end up to a millisecond early.
  await sleep(GENERATION_MS + 1);
}

/** @throws StoreConfigError */
function backupOf({ STORE }: Settings, command: string): StoreBackup {
  const { kept }: StoreRegistration = STORES[STORE];
  if (kept?.backup) return kept.backup;
  const others = storesWith((store) => store.kept?.backup !== undefined);
  const advice = kept?.backupAdvice === undefined ? '' : ` ${kept.backupAdvice}`;
  throw new StoreConfigError(
    `catalogue ${command} is for STORE=${others}, and the settings name STORE=${STORE}.${advice}`,
  );
}

/** Returns the OpenAPI document of a service with these settings. Any store and any rate limiter give the same. */
export async function describeService(settings: Settings): Promise<object> {
  const { composeWith } = await import('./application.js');
  const { memoryRateLimits } = await import('./rate-limits.js');
  const makeParts = await STORES.memory.load({});
  return composeWith({ settings, makeParts, makeRateLimits: memoryRateLimits }).openApiDocument;
}

/** Returns the file of the configured store if it has one that does not exist. */
function missingDatabase(settings: Settings): string | undefined {
  const file = STORES[settings.STORE].kept?.files?.(settings).database;
  if (file === undefined) return undefined;
  try {
    statSync(file);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? file : undefined;
  }
}

/** A command that only reads creates no file, so that a misspelt setting shows. */
function noDatabase(file: string): SourceMissing {
  return new SourceMissing(`There is no database ${file}. The first start of the service creates it.`);
}

async function withStore<Result>(
  settings: Settings,
  use: (application: Application) => Promise<Result>,
): Promise<Result> {
  const { STORE } = settings;
  if (!STORES[STORE].kept)
    throw new StoreConfigError(`STORE=${STORE} is the memory of the service. No other process can read it.`);
  const { compose } = await import('./application.js');
  const application = await compose(settings);
  const { store } = application.storage;
  try {
    await store.open();
    return await use(application);
  } finally {
    await store.close();
    await application.logger.flush(settings.SHUTDOWN_GRACE_SECONDS * 1_000);
  }
}
