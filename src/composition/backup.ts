import { backUpDatabase } from '../adapters/outbound/sqlite/backup.js';
import type { BackupProgress } from '../application/ports/backup.js';
import type { Settings } from '../config/settings.js';
import { CatalogueError } from '../domain/errors.js';

/**
 * Copies the store that the settings name to a new file; a service may run on it meanwhile.
 * @returns the size of the file in bytes
 * @throws BackupTargetError, UnusableStore, CatalogueError: `validation_failed` where the store is not SQLite
 */
export function backUpStore(settings: Settings, file: string, progress: BackupProgress): Promise<number> {
  const { STORE, SQLITE_FILE } = settings;
  if (STORE !== 'sqlite') {
    const reason = `catalogue backup is for STORE=sqlite, and the settings name STORE=${STORE}.`;
    throw new CatalogueError('validation_failed', reason);
  }
  return backUpDatabase(SQLITE_FILE, file, progress);
}
