import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import Database from 'libsql';
import { StoreConfigError } from '../../../../application/ports/store.js';
import { AppError, unavailable } from '../../../../domain/errors.js';
import type { MaybePromise } from '../../../../shared/promises.js';
import { createFolder, requireFile } from './files.js';

const OWNER_ONLY = 0o077;

/**
 * Opens a database file. Only SQLite may open it: if any other descriptor of the file in this process were closed,
 * SQLite would lose its locks, and the next process that closes the database would delete its log (SQLite, "How To
 * Corrupt An SQLite Database File", section 2.2).
 * @param file an absolute path
 * @param mode `rwc` creates the file and its folder if they do not exist
 * @throws AppError `unavailable`; StoreConfigError if it is no file
 */
export function connect(file: string, mode: 'rw' | 'rwc'): Database.Database {
  requireFile(file);
  try {
    if (mode === 'rwc') createFolder(dirname(file));
    const connection = forOwnerOnly(() => new Database(`${pathToFileURL(file).href}?mode=${mode}`));
    // See `LogCheckpoints`.
    connection.pragma('wal_autocheckpoint = 0');
    return connection;
  } catch (error) {
    throw unavailable(`The file ${file} cannot be opened.`, error);
  }
}

/**
 * Creates a file that only its owner may read, because the database holds signing keys. SQLite gives its log and its
 * shared memory the mode of the database.
 */
function forOwnerOnly<Result>(create: () => Result): Result {
  const before = process.umask(OWNER_ONLY);
  try {
    return create();
  } finally {
    process.umask(before);
  }
}

type NumberPragma = 'application_id' | 'page_count' | 'page_size' | 'user_version';

export function pragma(connection: Database.Database, name: NumberPragma): number {
  return rowsOf<[number]>(connection, `PRAGMA ${name}`)[0]?.[0] ?? 0;
}

/** Returns the rows of a statement that runs once. */
export function rowsOf<Row extends unknown[]>(connection: Database.Database, sql: string, ...values: unknown[]): Row[] {
  return connection
    .prepare(sql)
    .raw()
    .all(...values) as Row[];
}

/** SQL text and the values of its question marks. Nothing that a client sent becomes part of the text. */
export interface Sql {
  readonly text: string;
  readonly values: readonly unknown[];
}

export type Statement = Database.Statement<unknown[]>;

/** Reads one state of the database, here or on another thread. */
export interface RowReader {
  /**
   * Returns the first row of a statement that changes nothing; undefined if it has none. What follows the first row would
   * be read in the serving thread: an aggregate, or `LIMIT 1`, has nothing there.
   */
  row<Row extends unknown[]>(sql: Sql): MaybePromise<Row | undefined>;
}

export interface Reader extends RowReader {
  row<Row extends unknown[]>(sql: Sql): Row | undefined;
}

/**
 * The most statements that stay prepared, and the most characters of their texts. Queries of clients lead to any number
 * of different statements, and a prepared one takes about 20 bytes of memory for a character.
 */
export const MAX_STATEMENTS = 200;
export const MAX_CHARACTERS = 131_072;

/** The prepared statements of one connection, oldest first. They return rows as arrays. */
export class StatementCache implements Reader {
  private readonly statements = new Map<string, Statement>();
  private characters = 0;

  constructor(readonly connection: Database.Database) {}

  row<Row extends unknown[]>({ text, values }: Sql): Row | undefined {
    return this.statement(text).get(values) as Row | undefined;
  }

  statement(sql: string): Statement {
    const { statements } = this;
    const existing = statements.get(sql);
    if (existing) return existing;
    const statement = this.connection.prepare(sql);
    if (statement.reader) statement.raw();
    statements.set(sql, statement);
    this.characters += sql.length;
    for (const oldest of statements.keys()) {
      if (statements.size <= MAX_STATEMENTS && this.characters <= MAX_CHARACTERS) break;
      statements.delete(oldest);
      this.characters -= oldest.length;
    }
    return statement;
  }
}

/** The primary result codes that may pass, by a retry or by free disk space: https://www.sqlite.org/rescode.html */
const TRANSIENT = ['SQLITE_BUSY', 'SQLITE_LOCKED', 'SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_CANTOPEN', 'SQLITE_READONLY'];

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
  if (TRANSIENT.some((code) => hasCode(error, code))) return unavailable('The store cannot be used right now.', error);
  if (file !== undefined) return new StoreConfigError(`${file} cannot be used: ${error.message}.`, { cause: error });
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
