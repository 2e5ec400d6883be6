import Database from 'libsql';
import { UNFINISHED_COPY } from '../../../../application/ports/archive.js';
import { StoreConfigError } from '../../../../application/ports/store.js';
import { escapeControls } from '../../../../shared/shown-text.js';
import { pragma, rowsOf } from './connection.js';
import { APPLICATION_ID, FIRST_TAKEN, LAST_TAKEN, MIGRATIONS, migrate, RELEASED } from './migrations.js';

/** Tables of SQLite itself that any database may have: the statistics of ANALYZE, and the counters of AUTOINCREMENT. */
const OF_SQLITE = ['sqlite_stat1', 'sqlite_stat4', 'sqlite_sequence'];

/** The tables that Litestream adds to a database that it replicates, in every version of it (its `db.go`). */
const OF_LITESTREAM = `('_litestream_seq', '_litestream_lock')`;

/** The most differences that a message names. */
const MAX_NAMED = 5;

interface Schema {
  /** Of a table, an index, a trigger or a view, such as `table products`: how it is defined. */
  readonly objects: ReadonlyMap<string, string>;
  /** Tables in which SQLite keeps an index of words. Their definition depends on its version. */
  readonly shadows: ReadonlySet<string>;
}

const EXPECTED = new Map<number, Schema>();

/**
 * Compares a database with the one that the migrations make, object by object.
 * @param version the steps that the database has
 * @returns the differences for a person; undefined if there is none
 */
function schemaDifferences(connection: Database.Database, version: number): string | undefined {
  const { objects, shadows } = expectedSchema(version);
  const found = objectsOf(connection, shadows);
  const present = new Set(found.map(([name]) => name));
  const [[encoding] = ['']] = rowsOf<[string]>(connection, 'PRAGMA encoding');
  const differences = [
    ...(encoding === 'UTF-8' ? [] : [`the encoding is ${encoding}`]),
    ...[...objects.keys()].filter((name) => !present.has(name)).map((name) => `the ${name} is missing`),
    ...found.flatMap(([name, definition]) => {
      if (!objects.has(name)) return [`the ${escapeControls(name)} does not belong to it`];
      return objects.get(name) === definition ? [] : [`the ${name} is different`];
    }),
  ];
  const more = differences.length - MAX_NAMED;
  const named = differences.slice(0, MAX_NAMED).join(', ');
  if (differences.length === 0) return undefined;
  return more > 0 ? `${named}, and ${more} more differences` : named;
}

/** Returns the number of tables and indexes of a version. */
export function schemaSize(version: number): number {
  return expectedSchema(version).objects.size;
}

function expectedSchema(version: number): Schema {
  const known = EXPECTED.get(version);
  if (known) return known;
  const connection = new Database(':memory:');
  try {
    for (const _ of migrate(connection, 0, version));
    const find = "SELECT name FROM pragma_table_list WHERE type = 'shadow'";
    const shadows = new Set(rowsOf<[string]>(connection, find).map(([name]) => name));
    const schema = { objects: new Map(objectsOf(connection, shadows)), shadows };
    EXPECTED.set(version, schema);
    return schema;
  } finally {
    connection.close();
  }
}

/** Whether Litestream replicates the database, or did. */
function isReplicated(connection: Database.Database): boolean {
  const find = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name IN ${OF_LITESTREAM} LIMIT 1`;
  return rowsOf(connection, find).length > 0;
}

/** Whether there is no table but those of Litestream: without them, the next start of the service fills the database. */
export function isEmpty(connection: Database.Database): boolean {
  const find = `SELECT 1 FROM sqlite_schema WHERE name NOT IN ${OF_LITESTREAM} LIMIT 1`;
  return rowsOf(connection, find).length === 0;
}

type SchemaRow = [type: string, name: string, table: string, sql: string | null];

function objectsOf(connection: Database.Database, shadows: ReadonlySet<string>): [name: string, definition: string][] {
  return rowsOf<SchemaRow>(connection, 'SELECT type, name, tbl_name, sql FROM sqlite_schema')
    .filter(([type, name]) => type !== 'table' || !OF_SQLITE.includes(name))
    .map(([type, name, table, sql]) => [
      `${type} ${name}`,
      `ON ${table}: ${type === 'table' && shadows.has(name) ? '' : sql}`,
    ]);
}

/** What to do about a database of a newer version. */
export const INSTALL_NEWER = 'install the newer version, or restore a backup of this one';

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
  if (version !== 0 && version !== RELEASED && version < FIRST_TAKEN) {
    const message = `${file} has the schema ${version} of an unreleased build`;
    return { message, remedy: 'start the commit 9ed25c3f once with it, which brings it to 14' };
  }
  if (version >= FIRST_TAKEN && version <= LAST_TAKEN) return undefined;
  const differences = schemaDifferences(connection, version);
  if (differences === undefined) return undefined;
  const message = `${file} does not have the schema ${version} of this service: ${differences}`;
  return { message, remedy: 'undo what another program changed, or restore a backup' };
}

/**
 * @returns the number of steps that the schema has
 * @throws StoreConfigError if the file belongs to another application or to a newer version
 */
export function checkVersion(connection: Database.Database, file: string): number {
  checkOwner(connection, file);
  const version = pragma(connection, 'user_version');
  if (version < 0) throw new StoreConfigError(`${file} has no schema of this service: its number is ${version}.`);
  if (version <= MIGRATIONS.length) return version;
  const schemas = `its schema is ${version}, and this version knows up to ${MIGRATIONS.length}`;
  throw new StoreConfigError(`${file} was made by a newer version of this service: ${schemas}; ${INSTALL_NEWER}.`);
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

/** @throws StoreConfigError if a copy to the database has not ended */
export function checkFinished(connection: Database.Database, file: string): void {
  const { name, message, remedy } = UNFINISHED_COPY;
  const find = `SELECT 1 FROM reservations WHERE resource = '${name}' LIMIT 1`;
  const hasReservations = rowsOf(connection, "SELECT 1 FROM sqlite_schema WHERE name = 'reservations'").length > 0;
  if (!hasReservations || rowsOf(connection, find).length === 0) return;
  throw new StoreConfigError(`${file}: ${message}; ${remedy}.`);
}
