import { Seeding } from '../adapters/inbound/cli/seed/seeding.js';
import { ChecksummedApiKey } from '../adapters/outbound/tokens/api-key-format.js';
import type { KeyAdministration } from '../application/auth/key-administration.js';
import type { SigningKeyAdministration } from '../application/auth/signing-key-administration.js';
import type { BackupProgress } from '../application/ports/backup.js';
import type { Settings } from '../config/settings.js';
import { AppError } from '../domain/errors.js';
import { type Application, compose, composeWith } from './container.js';
import { memoryStorage } from './memory-storage.js';
import { memoryRateLimits } from './rate-limits.js';

export { copyStores } from './copy-stores.js';

/**
 * Lends the key administration of the store that the settings name. A service may run on the store meanwhile.
 * @throws AppError `unavailable`; `validation_failed` if the store dies with this process
 */
export function administerKeys<Result>(
  settings: Settings,
  use: (keys: KeyAdministration) => Promise<Result>,
): Promise<Result> {
  return withStore(settings, async ({ keyAdministration, resources }) => {
    try {
      return await use(keyAdministration);
    } finally {
      await resources.apiKeys.ids.release();
    }
  });
}

/** Lends the administration of the signing keys of that store, as {@link administerKeys} does. */
export function administerSigningKeys<Result>(
  settings: Settings,
  use: (keys: SigningKeyAdministration) => Promise<Result>,
): Promise<Result> {
  return withStore(settings, ({ signingKeyAdministration }) => use(signingKeyAdministration));
}

/** Lends what fills that store with sample products, as {@link administerKeys} does. */
export function seedStore<Result>(
  settings: Settings,
  use: (seeding: Seeding) => Promise<Result>,
): Promise<Result> {
  return withStore(settings, ({ storage, clock }) => {
    const { products, reservations } = storage;
    return use(new Seeding({ products, reservations: reservations.products, clock }));
  });
}

/**
 * Copies the store that the settings name to a new file. A service may run on the store meanwhile.
 * @returns the size of the file in bytes
 * @throws BackupTargetError, StoreConfigError; CatalogueError `validation_failed` if the store is not SQLite
 */
export async function backUpStore(
  { STORE, SQLITE_FILE }: Settings,
  file: string,
  progress: BackupProgress,
): Promise<number> {
  if (STORE !== 'sqlite') {
    const reason = `catalogue backup is for STORE=sqlite, and the settings name STORE=${STORE}.`;
    throw new AppError('validation_failed', reason);
  }
  const { backUpDatabase } = await import('../adapters/outbound/sqlite/backup.js');
  return backUpDatabase(SQLITE_FILE, file, progress);
}

/** Returns the OpenAPI document of a service with these settings, whatever its store and its rate limiter are. */
export function describeService(settings: Settings): object {
  return composeWith({
    settings,
    makeStorage: (_settings, options) => memoryStorage(options),
    makeRateLimits: memoryRateLimits,
  }).openApiDocument;
}

/** Returns a well-formed API key that no store knows. */
export function generateKey(): string {
  return new ChecksummedApiKey().generate();
}

async function withStore<Result>(
  settings: Settings,
  use: (application: Application) => Promise<Result>,
): Promise<Result> {
  if (settings.STORE === 'memory') {
    throw new AppError(
      'validation_failed',
      'STORE=memory lives in the service alone; no other process sees it.',
    );
  }
  const application = await compose(settings);
  const { store } = application.storage;
  try {
    await store.open();
    return await use(application);
  } finally {
    await store.close();
  }
}
