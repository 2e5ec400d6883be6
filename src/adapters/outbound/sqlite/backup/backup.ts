import { resolve } from 'node:path';
import type Database from 'libsql';
import type { BackupProgress } from '../../../../application/ports/backup.js';
import { StoreConfigError } from '../../../../application/ports/store.js';
import { runOnThread } from '../connection/async-connection.js';
import { connect, pragma } from '../connection/connection.js';
import { translateError } from '../connection/errors.js';
import { identityOf } from '../connection/files.js';
import { APPLICATION_ID } from '../connection/migrations.js';
import { checkApplication, checkFinished } from '../connection/schema-check.js';
import { AtomicFile, orTargetError } from './atomic-file.js';

/** How long the backup waits while another process recovers the log. */
const PATIENCE_MS = 5_000;
/** The number of pages that are written at once. */
const PAGES_PER_WRITE = 64;
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
export async function backUpDatabase(
  database: string,
  target: string,
  progress: BackupProgress,
): Promise<number> {
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
 * @throws StoreConfigError if the database, or its copy, is no intact one of this service
 */
export async function copyChecked(
  copy: AtomicFile,
  database: string,
  progress: BackupProgress,
): Promise<number> {
  const bytes = await copyTo(copy, database, progress);
  const report = () => progress(bytes, bytes);
  report();
  await checkIntegrity(copy.partial, report);
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
    checkIsOwn(source, database);
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
async function copyPages(
  copy: AtomicFile,
  source: Database.Database,
  progress: BackupProgress,
): Promise<number> {
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

const CHECK = 'SELECT integrity_check FROM pragma_integrity_check(1)';

/**
 * @param tick called again and again meanwhile; may throw
 * @throws StoreConfigError if the file is no intact database of this service
 */
async function checkIntegrity(file: string, tick: () => void): Promise<void> {
  const copy = connect(file, 'ro');
  try {
    checkIsOwn(copy, file);
  } finally {
    copy.close();
  }
  const found = await runOnThread(file, CHECK, tick);
  if (found !== 'ok') throw new StoreConfigError(`The database is damaged: ${found}`);
}

function checkIsOwn(connection: Database.Database, file: string): void {
  checkApplication(connection, file);
  if (pragma(connection, 'application_id') !== APPLICATION_ID)
    throw new StoreConfigError(`The database ${file} is empty.`);
  checkFinished(connection, file);
}
