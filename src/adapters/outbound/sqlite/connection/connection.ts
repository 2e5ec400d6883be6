import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import Database from 'libsql';
import { StoreConfigError } from '../../../../application/ports/store.js';
import { unavailable } from '../../../../domain/errors.js';
import { createFolder } from './create-folder.js';
import { translateError } from './errors.js';
import { isEmpty, isReplicated, schemaDifferences } from './expected-schema.js';
import { APPLICATION_ID, FIRST_TAKEN, MIGRATIONS, RELEASED } from './migrations.js';

const OWNER_ONLY = 0o077;

/**
 * Opens a database file. Only SQLite may open it: if any other descriptor of the file in this process were closed,
 * SQLite would lose its locks, and the next process that closes the database would delete its log (SQLite, "How To
 * Corrupt An SQLite Database File", section 2.2).
 * @param file an absolute path
 * @param mode `rwc` creates the file and its folder if they do not exist
 * @throws AppError `unavailable`; StoreConfigError if it is no file
 */
export function connect(file: string, mode: 'ro' | 'rw' | 'rwc'): Database.Database {
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
 * Refuses what cannot be a database. To open a pipe would wait for its other end, in the thread that serves.
 * @throws StoreConfigError
 */
export function requireFile(path: string): void {
  const stats = statsOf(path);
  if (!stats || stats.isFile()) return;
  const kind = stats.isDirectory() ? 'folder' : 'pipe or a device';
  throw new StoreConfigError(`${path} is a ${kind}, not a SQLite database.`);
}

/** @returns undefined if there is nothing, or nothing that this process may see */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
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

/** What to do about a database of a newer version. */
export const INSTALL_NEWER = 'install the newer version, or restore a backup of this one';

const UNDO_CHANGES = 'undo what another program changed, or restore a backup';

/**
 * @throws StoreConfigError if the file belongs to another application or to a newer version, or has another schema than
 * its version; nothing is changed
 */
export function checkApplication(connection: Database.Database, file: string): void {
  const version = checkVersion(connection, file);
  const problem = schemaProblem(connection, file, version);
  if (problem === undefined) return;
  // Another process has brought the file to another version meanwhile, in one commit.
  if (pragma(connection, 'user_version') !== version) checkApplication(connection, file);
  else throw new StoreConfigError(`${problem.message}; ${problem.remedy}.`);
}

/** @returns how the schema differs from that of the version, for a person; undefined if it does not */
export function schemaProblem(
  connection: Database.Database,
  file: string,
  version: number,
): { readonly message: string; readonly remedy: string } | undefined {
  if (isReplicated(connection)) {
    const message = `${file} has tables of Litestream, whose replicas of it can be damaged (docs/how-to/backup.md)`;
    const drop = 'DROP TABLE IF EXISTS _litestream_seq; DROP TABLE IF EXISTS _litestream_lock';
    return { message, remedy: `stop Litestream, and run: sqlite3 ${file} "${drop}"` };
  }
  if (version > RELEASED && version < MIGRATIONS.length)
    return version < FIRST_TAKEN ? ofOldBuild(file, version) : undefined;
  const differences = schemaDifferences(connection, version);
  if (differences === undefined) return undefined;
  const message = `${file} does not have the schema ${version} of this service: ${differences}`;
  return { message, remedy: UNDO_CHANGES };
}

function ofOldBuild(file: string, version: number) {
  const message = `${file} has the schema ${version} of an unreleased build`;
  return { message, remedy: 'start the commit 9ed25c3f once with it, which brings it to 14' };
}

/**
 * @returns the number of steps that the schema has
 * @throws StoreConfigError if the file belongs to another application or to a newer version
 */
export function checkVersion(connection: Database.Database, file: string): number {
  checkOwner(connection, file);
  const version = pragma(connection, 'user_version');
  if (version < 0)
    throw new StoreConfigError(`${file} has no schema of this service: its number is ${version}.`);
  if (version <= MIGRATIONS.length) return version;
  const schemas = `its schema is ${version}, and this version knows up to ${MIGRATIONS.length}`;
  throw new StoreConfigError(
    `${file} was made by a newer version of this service: ${schemas}; ${INSTALL_NEWER}.`,
  );
}

/** @throws StoreConfigError if the file belongs to another application */
export function checkOwner(connection: Database.Database, file: string): void {
  // In this order: another process that creates the database now fills it and sets its owner in one commit.
  const wasEmpty = isEmpty(connection);
  const owner = pragma(connection, 'application_id');
  if (owner !== APPLICATION_ID && !(owner === 0 && wasEmpty)) {
    throw new StoreConfigError(`${file} is a database of another application.`);
  }
}

type NumberPragma = 'application_id' | 'page_count' | 'page_size' | 'user_version';

export function pragma(connection: Database.Database, name: NumberPragma): number {
  const [row] = connection.prepare(`PRAGMA ${name}`).all() as Record<string, number>[];
  return row?.[name] ?? 0;
}

/** SQL text and the values of its question marks. Nothing that a client sent becomes part of the text. */
export interface Sql {
  readonly text: string;
  readonly values: readonly unknown[];
}

export type Statement = Database.Statement<unknown[]>;

export interface Reader {
  /** Runs a statement that changes nothing. */
  read<Result>(sql: string, use: (statement: Statement) => Result): Result;
}

/**
 * The most statements that stay prepared, and the most characters of their texts. Queries of clients lead to any number
 * of different statements, and a prepared one takes about 20 bytes of memory for a character.
 */
const MAX_STATEMENTS = 200;
const MAX_CHARACTERS = 131_072;

/** The prepared statements of one connection, oldest first. They return rows as arrays. */
export class StatementCache implements Reader {
  private readonly statements = new Map<string, Statement>();
  private characters = 0;

  constructor(private readonly connection: Database.Database) {}

  read<Result>(sql: string, use: (statement: Statement) => Result): Result {
    try {
      return use(this.statement(sql));
    } catch (error) {
      throw translateError(error);
    }
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
