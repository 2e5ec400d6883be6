import Database from 'libsql';
import { StoreConfigError } from '../../../../application/ports/store.js';
import { AppError, unavailable } from '../../../../domain/errors.js';

/** The primary result codes that may pass, by a retry or by free disk space: https://www.sqlite.org/rescode.html */
const TRANSIENT = [
  'SQLITE_BUSY',
  'SQLITE_LOCKED',
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_CANTOPEN',
  'SQLITE_READONLY',
];

/**
 * Translates an error of the driver, or of a stored text that is no JSON. Other errors are returned unchanged.
 * @param file its path, for an error that concerns the whole file: then no error of the driver is a defect
 */
export function translateError(error: unknown, file?: string): unknown {
  if (error instanceof SyntaxError)
    return new StoreConfigError(`The database is damaged: ${error.message}`, { cause: error });
  if (error instanceof AppError || !(error instanceof Database.SqliteError)) return error;
  if (hasCode(error, 'SQLITE_NOTADB'))
    return new StoreConfigError(`${file ?? 'The file'} is not a SQLite database.`, { cause: error });
  if (hasCode(error, 'SQLITE_CORRUPT'))
    return new StoreConfigError(`The database is damaged: ${error.message}`, { cause: error });
  if (TRANSIENT.some((code) => hasCode(error, code)))
    return unavailable('The store cannot be used right now.', error);
  if (file !== undefined)
    return new StoreConfigError(`${file} cannot be used: ${error.message}.`, { cause: error });
  return error;
}

export function isBusy(error: unknown): boolean {
  return hasCode(error, 'SQLITE_BUSY') || hasCode(error, 'SQLITE_LOCKED');
}

export function isConstraint(error: unknown): error is Error {
  return hasCode(error, 'SQLITE_CONSTRAINT');
}

/** The driver gives extended codes: `SQLITE_BUSY_SNAPSHOT` is a `SQLITE_BUSY`. */
function hasCode(error: unknown, code: string): boolean {
  return error instanceof Database.SqliteError && (error.code === code || error.code.startsWith(`${code}_`));
}
