import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import Database from 'libsql';
import { UNFINISHED_COPY } from '../../../application/ports/archive.js';
import { DERIVED_VERSION } from '../../../application/ports/derived-data.js';
import {
  type Diagnosis,
  type DiagnosticReport,
  type ExaminedTable,
  ok,
  parsed,
  unusableRows,
  warning,
  wrong,
} from '../../../application/ports/diagnostics.js';
import type { RecordTable } from '../../../application/ports/list-query.js';
import { StoreConfigError } from '../../../application/ports/store.js';
import { AppError } from '../../../domain/errors.js';
import { pragma, rowsOf, translateError } from './connection/connection.js';
import { type FileSystemType, networkWarning, requireFile, USE_LOCAL_DISK } from './connection/files.js';
import { APPLICATION_ID, MIGRATIONS } from './connection/migrations.js';
import { checkFinished, checkVersion, INSTALL_NEWER, schemaProblem, schemaSize } from './connection/schema-check.js';
import { columnsOf } from './sql/schema.js';

/** A database up to this size is checked for damage unasked: it takes some seconds at most. */
const QUICK_BYTES = 256 * 1024 * 1024;

/** What to do. */
const DAMAGED = 'export what can still be read, stop the service, then run: catalogue restore FILE';
const UNREADABLE = 'run this as the user of the service, while no restore runs';
const BACK_UP = 'make a backup before that start: an older program cannot read the newer schema';
const COPY = 'stop the service, and copy the database into a new one: catalogue copy';

export interface DatabaseCheck {
  readonly tables: readonly (ExaminedTable & Pick<RecordTable, 'fields'>)[];
  /** Whether to look for damage in a large database as well, and whether columns have what the fields have. */
  readonly deep: boolean;
  /** The local time. */
  readonly now: number;
  /** Default: what the system says. */
  readonly typeOf?: FileSystemType;
}

/**
 * Examines a database without changing anything: no file is created, and no log is written back. A service may use the
 * database meanwhile.
 * @param file an absolute path
 */
export function checkDatabase(file: string, check: DatabaseCheck): DiagnosticReport {
  const report = inspect(file, check);
  return { ...report, diagnoses: [...report.diagnoses, ...placeOf(file, check)] };
}

/** The folder of a database that does not exist yet has its own diagnosis. */
function placeOf(file: string, { typeOf }: DatabaseCheck): Diagnosis[] {
  const text = existsSync(dirname(file)) ? networkWarning(file, typeOf) : undefined;
  return text === undefined ? [] : [warning('store', text, USE_LOCAL_DISK)];
}

function inspect(file: string, check: DatabaseCheck): DiagnosticReport {
  if (!existsSync(file))
    return { diagnoses: [ok('store', `there is no database ${file} yet; the first start creates it`)] };
  if (existsSync(`${file}-wal`) && !existsSync(`${file}-shm`))
    return { diagnoses: [ok('store', `${file} has a log that the next start reads; it was not examined`)] };
  let connection: Database.Database | undefined;
  try {
    connection = openUnchanged(file);
    return inspected(connection, file, check);
  } catch (error) {
    const translated = translateError(error, file);
    if (translated instanceof StoreConfigError) {
      const remedy = remedyOf(translated);
      return { diagnoses: [wrong('store', translated.message.replace(`; ${remedy}`, ''), remedy)] };
    }
    if (translated instanceof AppError || error instanceof Database.SqliteError)
      return { diagnoses: [wrong('store', `${file} cannot be read`, UNREADABLE)] };
    throw error;
  } finally {
    connection?.close();
  }
}

/**
 * Without a log, no process has the database open, and `immutable` keeps SQLite from creating one. With a log, SQLite
 * reads it through the existing index, and a connection that cannot write neither writes it back nor deletes it.
 */
function openUnchanged(file: string): Database.Database {
  requireFile(file);
  const options = existsSync(`${file}-wal`) ? 'mode=ro' : 'mode=ro&immutable=1';
  return new Database(`${pathToFileURL(file).href}?${options}`);
}

function inspected(connection: Database.Database, file: string, check: DatabaseCheck): DiagnosticReport {
  const version = checkVersion(connection, file);
  const problem = schemaProblem(connection, file, version);
  if (problem !== undefined)
    return { diagnoses: [wrong('store', problem.message, problem.remedy), damageIn(connection, check.deep)] };
  if (pragma(connection, 'application_id') !== APPLICATION_ID)
    return { diagnoses: [ok('store', `${file} is empty; the next start fills it`)] };
  checkFinished(connection, file);
  if (version < MIGRATIONS.length) {
    const message = `${file} has schema ${version}; the next start brings it to ${MIGRATIONS.length}`;
    return { diagnoses: [warning('store', message, BACK_UP), damageIn(connection, check.deep)] };
  }
  const stale = staleTables(connection);
  return {
    diagnoses: [
      ok('store', `${file} has the current schema, ${version}`),
      damageIn(connection, check.deep),
      ok('indexes', `all ${schemaSize(version)} tables and indexes are there`),
      ...(stale.length === 0
        ? differencesIn(connection, check)
        : [ok('indexes', `the next start completes the indexes of ${stale.join(', ')}`)]),
      ...unusableIn(connection, check),
    ],
    ...newestRecord(connection, check),
  };
}

function damageIn(connection: Database.Database, deep: boolean): Diagnosis {
  const bytes = pragma(connection, 'page_count') * pragma(connection, 'page_size');
  if (!deep && bytes > QUICK_BYTES)
    return ok('store', `the database has ${Math.round(bytes / 1024 ** 2)} MiB; --deep looks for damage in it`);
  const check = deep ? 'integrity_check' : 'quick_check';
  const [[found] = ['nothing']] = rowsOf<[string]>(connection, `PRAGMA ${check}(1)`);
  if (found === 'ok') return ok('store', `no damage was found (PRAGMA ${check})`);
  return wrong('store', `the database is damaged: ${found}`, DAMAGED);
}

/** The tables with derived data that is not current. */
function staleTables(connection: Database.Database): string[] {
  const isStale = `version < ${DERIVED_VERSION} OR done_to < old_to`;
  const rows = rowsOf<[string]>(connection, `SELECT name FROM derived WHERE ${isStale} ORDER BY name`);
  return rows.map(([name]) => name);
}

/** Compares the columns of each record with the text of its fields. */
function differencesIn(connection: Database.Database, { tables, deep }: DatabaseCheck): Diagnosis[] {
  return (deep ? tables : []).flatMap((table) => {
    const columns = columnsOf(table);
    const names = ['id', 'fields', ...columns.map(({ name }) => name)];
    const select = connection.prepare(`SELECT ${names.join(', ')} FROM ${table.name} NOT INDEXED ORDER BY id`).raw();
    const differing: number[] = [];
    for (const [id, text, ...cells] of select.iterate() as Iterable<[number, string, ...unknown[]]>) {
      const fields = parsed(text) as object | undefined;
      if (!fields || columns.some(({ valueIn }, at) => valueIn(fields) !== cells[at])) differing.push(id);
    }
    if (differing.length === 0) return [];
    const which = `record ${differing[0]} of ${table.name} differ from its fields; so do ${differing.length - 1} others`;
    return [wrong('store', `the columns of ${which}`, COPY)];
  });
}

function unusableIn(connection: Database.Database, { tables }: DatabaseCheck): Diagnosis[] {
  const examined = tables.filter(({ unusableFields }) => unusableFields);
  return examined.flatMap((table) => {
    const sql = `SELECT id, fields FROM ${table.name} NOT INDEXED ORDER BY id`;
    return unusableRows(table, rowsOf<[number, string]>(connection, sql));
  });
}

function newestRecord(connection: Database.Database, { tables, now }: DatabaseCheck): Pick<DiagnosticReport, 'time'> {
  const times = tables.flatMap(({ name }) =>
    rowsOf<[number | null]>(connection, `SELECT max(updated_at) FROM ${name}`),
  );
  const at = Math.max(...times.map(([time]) => time ?? 0));
  return at === 0 ? {} : { time: { kind: 'past', of: 'the newest record', at, readAt: now } };
}

function remedyOf({ message }: StoreConfigError): string {
  if (message.includes('newer version')) return INSTALL_NEWER;
  if (message.includes(UNFINISHED_COPY.message)) return UNFINISHED_COPY.remedy;
  return message.includes('damaged') ? DAMAGED : 'set SQLITE_FILE to the database of this service';
}
