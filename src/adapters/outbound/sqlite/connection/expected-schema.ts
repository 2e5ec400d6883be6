import Database from 'libsql';
import { escapeControls } from '../../../../shared/escape-controls.js';
import { migrate } from './migrations.js';

/** Tables of SQLite itself that any database may have: the statistics of ANALYZE, and the counters of AUTOINCREMENT. */
const OF_SQLITE = ['sqlite_stat1', 'sqlite_stat4', 'sqlite_sequence'];

/** The tables that Litestream adds to a database that it replicates, in every version of it (its `db.go`). */
const OF_LITESTREAM = `('_litestream_seq', '_litestream_lock')`;

/** The most differences that a message names. */
const MAX_NAMED = 5;

/** A table, an index, a trigger or a view. */
interface SchemaObject {
  /** For example `table products`. */
  readonly name: string;
  readonly definition: string;
}

interface Schema {
  readonly objects: readonly SchemaObject[];
  /** Tables in which SQLite keeps an index of words. Their definition depends on its version. */
  readonly shadows: ReadonlySet<string>;
}

const EXPECTED = new Map<number, Schema>();

/**
 * Compares a database with the one that the migrations make, object by object.
 * @param version the steps that the database has
 * @returns the differences for a person; undefined if there is none
 */
export function schemaDifferences(connection: Database.Database, version: number): string | undefined {
  const { objects, shadows } = expectedSchema(version);
  const found = objectsOf(connection, shadows);
  const namesOf = (all: readonly SchemaObject[]) => new Map(all.map((one) => [one.name, one.definition]));
  const [wanted, present] = [namesOf(objects), namesOf(found)];
  const [[encoding] = ['']] = connection.prepare('PRAGMA encoding').raw().all() as [string][];
  const differences = [
    ...(encoding === 'UTF-8' ? [] : [`the encoding is ${encoding}`]),
    ...objects.filter(({ name }) => !present.has(name)).map(({ name }) => `the ${name} is missing`),
    ...found.flatMap(({ name, definition }) => {
      if (!wanted.has(name)) return [`the ${escapeControls(name)} does not belong to it`];
      return wanted.get(name) === definition ? [] : [`the ${name} is different`];
    }),
  ];
  const more = differences.length - MAX_NAMED;
  const named = differences.slice(0, MAX_NAMED).join(', ');
  if (differences.length === 0) return undefined;
  return more > 0 ? `${named}, and ${more} more differences` : named;
}

/** Returns the number of tables and indexes of a version. */
export function schemaSize(version: number): number {
  return expectedSchema(version).objects.length;
}

function expectedSchema(version: number): Schema {
  const known = EXPECTED.get(version);
  if (known) return known;
  const connection = new Database(':memory:');
  try {
    for (const _ of migrate(connection, 0, version));
    const shadows = connection.prepare("SELECT name FROM pragma_table_list WHERE type = 'shadow'").raw();
    const names = new Set((shadows.all() as [string][]).map(([name]) => name));
    const schema = { objects: objectsOf(connection, names), shadows: names };
    EXPECTED.set(version, schema);
    return schema;
  } finally {
    connection.close();
  }
}

/** Whether Litestream replicates the database, or did. */
export function isReplicated(connection: Database.Database): boolean {
  const find = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name IN ${OF_LITESTREAM} LIMIT 1`;
  return connection.prepare(find).all().length > 0;
}

/** Whether there is no table but those of Litestream: without them, the next start of the service fills the database. */
export function isEmpty(connection: Database.Database): boolean {
  const find = `SELECT 1 FROM sqlite_schema WHERE name NOT IN ${OF_LITESTREAM} LIMIT 1`;
  return connection.prepare(find).all().length === 0;
}

function objectsOf(connection: Database.Database, shadows: ReadonlySet<string>): SchemaObject[] {
  const rows = connection.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema').raw().all();
  return (rows as [type: string, name: string, table: string, sql: string | null][])
    .filter(([type, name]) => type !== 'table' || !OF_SQLITE.includes(name))
    .map(([type, name, table, sql]) => ({
      name: `${type} ${name}`,
      definition: `ON ${table}: ${type === 'table' && shadows.has(name) ? '' : sql}`,
    }));
}
