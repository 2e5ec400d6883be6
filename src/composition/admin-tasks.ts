import { Seeding } from '../adapters/inbound/cli/seed/seeding.js';
import { ChecksummedApiKey } from '../adapters/outbound/tokens/api-key-format.js';
import type { KeyAdministration } from '../application/auth/key-administration.js';
import type { SigningKeyAdministration } from '../application/auth/signing-key-administration.js';
import type { BackupProgress } from '../application/ports/backup.js';
import type { Settings } from '../config/settings.js';
import { AppError } from '../domain/errors.js';
import { type Application, compose, composeWith } from './container.js';
import { memoryRateLimits } from './rate-limits.js';
import { memoryStorage } from './stores.js';

export { copyStores } from './copy-stores.js';

/**
 * Runs `use` with the administration of the API keys in the configured store. A service may use the store meanwhile.
 * @throws AppError `unavailable`; `validation_failed` if the store is `memory`
 */
export function administerKeys<Result>(
  settings: Settings,
  use: (keys: KeyAdministration) => Promise<Result>,
): Promise<Result> {
  return withStore(settings, ({ keyAdministration }) => use(keyAdministration));
}

/** Runs `use` with the administration of the signing keys, as {@link administerKeys} does. */
export function administerSigningKeys<Result>(
  settings: Settings,
  use: (keys: SigningKeyAdministration) => Promise<Result>,
): Promise<Result> {
  return withStore(settings, ({ signingKeyAdministration }) => use(signingKeyAdministration));
}

/** Runs `use` with the seeding of sample products, as {@link administerKeys} does. */
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
 * Copies the configured store to a new file. A service may use the store meanwhile.
 * @returns the size of the file in bytes
 * @throws BackupTargetError, StoreConfigError; AppError `validation_failed` if the store is not SQLite
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

/** Returns the OpenAPI document of a service with these settings. Any store and any rate limiter give the same. */
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
      'STORE=memory is the memory of the service. No other process can read it.',
    );
  }
  const application = await compose(settings);
  const { store } = application.storage;
  try {
    await store.open();
    return await use(application);
  } finally {
    await store.close();
    await application.logger.flush();
  }
}
