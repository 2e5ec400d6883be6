import Database from 'libsql';
import { UnusableStore } from '../../../application/ports/store.js';
import { CatalogueError, unavailable } from '../../../domain/errors.js';

/** The primary result codes that another try, or some room on the disk, can cure: https://www.sqlite.org/rescode.html */
const PASSING = [
  'SQLITE_BUSY',
  'SQLITE_LOCKED',
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_CANTOPEN',
  'SQLITE_READONLY',
];

/** What the core is told of an error of the driver; everything else stays as it was. */
export function toCoreError(error: unknown): unknown {
  if (error instanceof CatalogueError || !(error instanceof Database.SqliteError)) return error;
  if (hasCode(error, 'SQLITE_NOTADB'))
    return new UnusableStore('The file is no SQLite database.', { cause: error });
  if (hasCode(error, 'SQLITE_CORRUPT'))
    return new UnusableStore(`The database is damaged: ${error.message}`, { cause: error });
  if (PASSING.some((code) => hasCode(error, code)))
    return unavailable('The store cannot be used right now.', error);
  return error;
}

export function isBusy(error: unknown): boolean {
  return hasCode(error, 'SQLITE_BUSY') || hasCode(error, 'SQLITE_LOCKED');
}

export function isConstraint(error: unknown): error is Error {
  return hasCode(error, 'SQLITE_CONSTRAINT');
}

/** Codes come extended: `SQLITE_BUSY_SNAPSHOT` is a `SQLITE_BUSY`. */
function hasCode(error: unknown, code: string): boolean {
  return error instanceof Database.SqliteError && (error.code === code || error.code.startsWith(`${code}_`));
}
