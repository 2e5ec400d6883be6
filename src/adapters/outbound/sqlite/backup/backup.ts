import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type Database from 'libsql';
import {
  type BackupProgress,
  BackupUnusable,
  type RestoreReport,
  SourceMissing,
  StoreConfigError,
  StoreInUse,
} from '../../../../application/ports/store.js';
import { connect, isBusy, pragma, rowsOf, translateError } from '../connection/connection.js';
import { createFolder, identityOf } from '../connection/files.js';
import { APPLICATION_ID, afterRestore } from '../connection/migrations.js';
import { runOnThread } from '../connection/readers.js';
import { checkApplication, checkFinished, checkOwner, isEmpty } from '../connection/schema-check.js';
import { AtomicFile, type Owner, orTargetError } from './atomic-file.js';

/** How long the backup waits while another process recovers the log. */
const PATIENCE_MS = 5_000;
/** The number of pages that are written at once. */
const PAGES_PER_WRITE = 64;
const CHECK = 'SELECT integrity_check FROM pragma_integrity_check(1)';
/** Bytes in the header of a database: it is one file, without a write-ahead log. */
const ONE_FILE = { offset: 18, data: Buffer.from([1, 1]) };

/**
 * Copies a snapshot of a database to a new file while others read and write the database. The file gets its name when
 * it is complete, on the disk, and checked by `PRAGMA integrity_check`. An error leaves no file behind.
 * @returns the size of the backup in bytes
 * @throws BackupTargetError
 * @throws StoreConfigError if there is no intact database of this service
 * @throws AppError `unavailable`
 */
export async function backUpDatabase(database: string, target: string, progress: BackupProgress): Promise<number> {
  const [source, file] = [resolve(database), resolve(target)];
  return orTargetError(file, async () => {
    const copy = await AtomicFile.create(file);
    try {
      const bytes = await copyChecked(copy, source, progress);
      await copy.publish();
      return bytes;
    } catch (error) {
      throw translateError(error, source);
    } finally {
      await copy.close();
    }
  });
}

/**
 * Copies a snapshot of a database, and checks the copy.
 * @returns its size in bytes
 * @throws StoreConfigError if the database is no intact one of this service
 */
async function copyChecked(copy: AtomicFile, database: string, progress: BackupProgress): Promise<number> {
  const bytes = await copyTo(copy, database, progress);
  const report = () => progress(bytes, bytes);
  report();
  const found = await runOnThread(copy.partial, CHECK, report);
  if (found !== 'ok') throw new StoreConfigError(`The database is damaged: ${found}`);
  report();
  return bytes;
}

async function copyTo(copy: AtomicFile, database: string, progress: BackupProgress): Promise<number> {
  if (!identityOf(database)) throw new StoreConfigError(`There is no database ${database}.`);
  const source = connect(database, 'rw');
  try {
    source.pragma(`busy_timeout = ${PATIENCE_MS}`);
    source.pragma('query_only = ON');
    source.exec('BEGIN');
    checkApplication(source, database);
    if (pragma(source, 'application_id') !== APPLICATION_ID)
      throw new StoreConfigError(`The database ${database} is empty.`);
    checkFinished(source, database);
    return await copyPages(copy, source, progress);
  } finally {
    if (source.inTransaction) source.exec('ROLLBACK');
    source.close();
  }
}

/**
 * Reads the pages from SQLite's table `sqlite_dbpage` (https://www.sqlite.org/dbpage.html), in the open transaction.
 * `VACUUM INTO` would block the thread until it is done, without progress and without a reaction to signals.
 */
async function copyPages(copy: AtomicFile, source: Database.Database, progress: BackupProgress): Promise<number> {
  const page = source.prepare('SELECT data FROM sqlite_dbpage WHERE pgno = ?').raw();
  const [pages, size] = [pragma(source, 'page_count'), pragma(source, 'page_size')];
  for (let first = 1; first <= pages; first += PAGES_PER_WRITE) {
    progress((first - 1) * size, pages * size);
    const numbers = Array.from({ length: Math.min(PAGES_PER_WRITE, pages - first + 1) }, (_, i) => first + i);
    await copy.append(Buffer.concat(numbers.map((number) => (page.get(number) as [Buffer])[0])));
  }
  await copy.finish(ONE_FILE);
  return pages * size;
}

/**
 * Puts a copy of a backup in the place of a database that no process has open. The copy is complete, on the disk and
 * checked by `PRAGMA integrity_check` before it gets its name. If the process is killed, the database is the whole old
 * one or the whole new one. Where there is none, an empty one is made and locked, which is removed after an error.
 * @throws SourceMissing, BackupUnusable if the backup cannot be used
 * @throws StoreInUse; StoreConfigError if the file in its place is no database of this service; BackupTargetError
 * @throws AppError `unavailable`
 */
export async function restoreDatabase(
  backup: string,
  database: string,
  now: Date,
  progress: BackupProgress,
): Promise<RestoreReport> {
  const source = resolve(backup);
  if (!existsSync(source)) throw new SourceMissing(`There is no file ${source}.`);
  const target = realPath(resolve(database));
  if (identityOf(source) === identityOf(target)) throw new BackupUnusable(`${source} is the database itself.`);
  return orTargetError(target, () => replaceDatabase(target, source, now, progress));
}

async function replaceDatabase(
  target: string,
  source: string,
  now: Date,
  progress: BackupProgress,
): Promise<RestoreReport> {
  createFolder(dirname(target));
  const owner = ownerOf(target);
  const isMissing = !existsSync(target);
  const aside = isMissing ? await createEmpty(target, owner, now) : undefined;
  const old = openExclusively(target);
  const isReplaced = !isEmpty(old);
  const made = isMissing && !isReplaced ? identityOf(target) : undefined;
  try {
    progress(0, 0);
    await AtomicFile.removeLeftovers(target);
    const copy = await AtomicFile.createForReplace(target, owner);
    try {
      const bytes = await fill(copy, source, progress);
      return { database: target, bytes, replaced: (await copy.replace(now, isReplaced)) ?? aside };
    } finally {
      await copy.close();
    }
  } catch (error) {
    if (made !== undefined && identityOf(target) === made) await AtomicFile.remove(target);
    throw error;
  } finally {
    closeExclusively(old);
  }
}

/**
 * Creates a database without a table in the place of none, so that it can be locked: nobody else creates one then. It
 * has a page, because SQLite does not notice that a file without one was renamed.
 * @returns the folder that files of an earlier database moved to
 */
async function createEmpty(target: string, owner: Owner | undefined, now: Date): Promise<string | undefined> {
  const file = await AtomicFile.createForReplace(target, owner);
  try {
    const connection = connect(file.partial, 'rw');
    try {
      // Nobody else knows the file, so nothing has to be rolled back.
      connection.pragma('journal_mode = OFF');
      // Any write creates the first page.
      connection.pragma('user_version = 0');
    } finally {
      connection.close();
    }
    return await file.publishIfAbsent(now);
  } catch (error) {
    throw translateError(error, target);
  } finally {
    await file.close();
  }
}

/** @throws BackupUnusable */
async function fill(copy: AtomicFile, source: string, progress: BackupProgress): Promise<number> {
  try {
    const bytes = await copyChecked(copy, source, progress);
    standAlone(copy.partial);
    return bytes;
  } catch (error) {
    const translated = translateError(error, source);
    if (!(translated instanceof StoreConfigError)) throw translated;
    throw new BackupUnusable(translated.message, { cause: error });
  }
}

function standAlone(file: string): void {
  const connection = connect(file, 'rw');
  try {
    connection.pragma('journal_mode = OFF');
    const has = connection.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?');
    for (const [table, sql] of Object.entries(afterRestore(pragma(connection, 'user_version'))))
      if (has.get(table)) connection.exec(sql);
  } finally {
    connection.close();
  }
}

/** Follows symbolic links, also to a missing file, as SQLite does when it creates a database. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    // Links in a circle are ELOOP.
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (!isMissing || !lstatSync(path, { throwIfNoEntry: false })) return path;
    return realPath(resolve(dirname(path), readlinkSync(path)));
  }
}

/** Returns the owner that the file must get, if root restores it for the user of the service. */
function ownerOf(target: string): Owner | undefined {
  const { uid, gid } = statSync(existsSync(target) ? target : dirname(target));
  return process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : undefined;
}

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
function openExclusively(file: string): Database.Database {
  const connection = connect(file, 'rw');
  try {
    checkOwner(connection, file);
    checkFinished(connection, file);
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

function closeExclusively(connection: Database.Database): void {
  if (connection.inTransaction) connection.exec('ROLLBACK');
  connection.close();
}

function inUse(file: string): StoreInUse {
  return new StoreInUse(`Another program has the database ${file} open, such as a running service. Stop it first.`);
}
