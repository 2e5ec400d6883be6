import type pg from 'pg';
import { UNFINISHED_COPY } from '../../../application/ports/archive.js';
import {
  type Diagnosis,
  type DiagnosticReport,
  ok,
  unusableRecords,
  warning,
  wrong,
} from '../../../application/ports/diagnostics.js';
import { StoreConfigError } from '../../../application/ports/store.js';
import type { StoredTable } from '../../../application/ports/table-store.js';
import { AppError } from '../../../domain/errors.js';
import { systemReason } from '../../../shared/shown-text.js';
import { CLEAR_TEXT, parseUrl } from './connection.js';
import { GAPS } from './feed.js';
import { MIGRATIONS } from './migrations.js';
import { checkServer, factsOf, versionOf, withClient } from './schema.js';

const PATIENCE_MS = 5_000;

/** Indexes that are not of use: the server stopped while it made them. */
const INVALID_INDEXES = `SELECT indexrelid::regclass::text FROM pg_index
  JOIN pg_class ON pg_class.oid = indrelid WHERE NOT indisvalid AND relnamespace = current_schema()::regnamespace`;

const ENCRYPT = 'remove sslmode=disable from POSTGRESQL_URL; add sslrootcert if the server has a CA of its own';
const NO_FSYNC = 'the server has fsync=off, so that a loss of power can destroy all data';

const MAY_CREATE = `SELECT has_schema_privilege(current_schema(), 'CREATE')`;

/** Examines a server without changing anything: it makes no table and no index. */
export async function checkPostgresql(
  url: string,
  tables: readonly StoredTable[],
  now: () => number,
  hasSessions = true,
): Promise<DiagnosticReport> {
  try {
    const { client, location, isUnprotected, roleMs } = parseUrl(url, PATIENCE_MS, hasSessions);
    return await withClient({ ...client, connectionTimeoutMillis: PATIENCE_MS }, async (connected) => {
      const facts = await factsOf(connected);
      const readAt = now();
      checkServer(facts, roleMs);
      const diagnoses = [
        ok('store', `PostgreSQL ${facts.name} responds (${location.replace('PostgreSQL at ', '')})`),
        await checkSchema(connected),
        ...(await contentsOf(connected, tables)),
        ...(isUnprotected ? [warning('store', CLEAR_TEXT, ENCRYPT)] : []),
        ...(facts.hasFsync ? [] : [warning('store', NO_FSYNC, 'set fsync=on')]),
      ];
      return { diagnoses, time: { kind: 'now', of: "PostgreSQL's clock", at: facts.now, readAt } };
    });
  } catch (error) {
    return { diagnoses: [diagnosisOf(error)] };
  }
}

async function contentsOf(client: pg.Client, tables: readonly StoredTable[]): Promise<Diagnosis[]> {
  if ((await versionOf(client)) < MIGRATIONS.length) return [];
  const { name, message, remedy } = UNFINISHED_COPY;
  const { rows } = await client.query('SELECT 1 FROM reservations WHERE resource = $1', [name]);
  if (rows.length > 0) return [wrong('store', message, remedy)];
  return unusableRecords(tables, async (name) => {
    const text = `SELECT id, fields FROM ${name} WHERE deleted_at IS NULL ORDER BY id`;
    return (await client.query<[number, string]>({ text, rowMode: 'array' })).rows;
  });
}

async function checkSchema(client: pg.Client): Promise<Diagnosis> {
  const version = await versionOf(client);
  const read = async <Value>(text: string) =>
    (await client.query<[Value]>({ text, rowMode: 'array' })).rows.flat() as Value[];
  const invalid = await read<string>(INVALID_INDEXES);
  if (invalid.length > 0)
    return wrong(
      'schema',
      `these indexes are invalid: ${invalid.join(', ')}`,
      'run REINDEX INDEX CONCURRENTLY for each',
    );
  const [mayCreate] = await read<boolean | null>(MAY_CREATE);
  if (version < MIGRATIONS.length && mayCreate !== true)
    return wrong(
      'schema',
      'the role may not create tables',
      'log in with a role that owns the database, or that ALTER ROLE … SET role makes the owner',
    );
  const gaps = version > 0 ? await read<string>(GAPS) : [];
  if (gaps.length > 0)
    return wrong(
      'schema',
      `the triggers of these feeds are missing or disabled, so that changes are lost: ${gaps.join(', ')}`,
      'start the service, which makes them again and lets the cursors expire',
    );
  if (version === 0) return ok('schema', 'there is none; the first start makes it');
  if (version >= MIGRATIONS.length) return ok('schema', `it is of version ${version}`);
  return warning(
    'schema',
    `it is of version ${version}; this release makes ${MIGRATIONS.length} of it`,
    'the next start does that; with many records it takes minutes',
  );
}

function diagnosisOf(error: unknown): Diagnosis {
  if (error instanceof StoreConfigError) return wrong('store', error.message, 'correct POSTGRESQL_URL or the server');
  if (error instanceof AppError) {
    const reason = error.cause instanceof Error ? systemReason(error.cause) : error.message;
    const remedy = 'start it, and check the host and the port in POSTGRESQL_URL';
    return wrong('store', `PostgreSQL cannot be used now: ${reason}`, remedy);
  }
  const { name, message } = error as Error;
  return wrong('store', `PostgreSQL cannot be used (${name}: ${message})`, 'see the log of the server');
}
