import { existsSync } from 'node:fs';
import type Database from 'libsql';
import { SourceMissing } from '../../../../application/ports/backup.js';
import { StoreInUse } from '../../../../application/ports/store.js';
import { connect, rowsOf } from './connection.js';
import { isBusy, translateError } from './errors.js';
import { checkOwner } from './schema-check.js';

/**
 * Opens a database that no other connection has open, and keeps all others out until it is closed. The database is then
 * one file: SQLite leaves the write-ahead log only without other connections, and first writes the log into the
 * database and deletes it. The next `open` of the store creates a log again.
 *
 * The transaction writes nothing, so it has no journal, which SQLite would later delete by its name. A process that
 * opens the file before it is renamed, and writes afterwards, gets SQLITE_READONLY_DBMOVED.
 * @throws StoreInUse
 * @throws StoreConfigError if it is no database of this service, or too damaged to be locked
 * @throws AppError `unavailable`
 */
export function openExclusively(file: string): Database.Database {
  const connection = connect(file, 'rw');
  try {
    checkOwner(connection, file);
    connection.pragma('journal_mode = DELETE');
    connection.exec('BEGIN EXCLUSIVE');
    // Another process may have opened the database, and brought the log back, between the two statements.
    const [[mode] = ['']] = rowsOf<[string]>(connection, 'PRAGMA journal_mode');
    if (mode === 'wal') throw inUse(file);
    return connection;
  } catch (error) {
    closeExclusively(connection);
    throw isBusy(error) ? inUse(file) : translateError(error, file);
  }
}

/**
 * @param file an absolute path
 * @throws SourceMissing, and the errors of {@link openExclusively}
 */
export function requireUnused(file: string): void {
  if (!existsSync(file)) throw new SourceMissing(`There is no file ${file}.`);
  closeExclusively(openExclusively(file));
}

export function closeExclusively(connection: Database.Database): void {
  if (connection.inTransaction) connection.exec('ROLLBACK');
  connection.close();
}

function inUse(file: string): StoreInUse {
  return new StoreInUse(
    `Another program has the database ${file} open, such as a running service. Stop it first.`,
  );
}
