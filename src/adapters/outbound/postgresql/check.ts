import type pg from 'pg';
import { unusableRecords } from '../../../application/maintenance/unusable-records.js';
import { UNFINISHED_COPY } from '../../../application/ports/archive.js';
import type { Diagnosis, DiagnosticReport } from '../../../application/ports/diagnostics.js';
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

/** The number of steps with which feeds begin. */
const FIRST_WITH_FEEDS = 2;

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
        ...(isUnprotected ? [UNPROTECTED] : []),
        ...(facts.hasFsync ? [] : [NO_FSYNC]),
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
  if (rows.length > 0) return [{ subject: 'store', verdict: 'wrong', message, remedy }];
  return unusableRecords(tables, async (name) => {
    const text = `SELECT id, fields FROM ${name} WHERE deleted_at IS NULL ORDER BY id`;
    return (await client.query<[number, string]>({ text, rowMode: 'array' })).rows;
  });
}

const UNPROTECTED: Diagnosis = {
  subject: 'store',
  verdict: 'warning',
  message: CLEAR_TEXT,
  remedy: 'remove sslmode=disable from POSTGRESQL_URL; add sslrootcert if the server has a CA of its own',
};

const NO_FSYNC: Diagnosis = {
  subject: 'store',
  verdict: 'warning',
  message: 'the server has fsync=off, so that a loss of power can destroy all data',
  remedy: 'set fsync=on',
};

async function checkSchema(client: pg.Client): Promise<Diagnosis> {
  const version = await versionOf(client);
  const { rows } = await client.query<[string]>({ text: INVALID_INDEXES, rowMode: 'array' });
  if (rows.length > 0)
    return {
      subject: 'schema',
      verdict: 'wrong',
      message: `these indexes are invalid: ${rows.flat().join(', ')}`,
      remedy: 'run REINDEX INDEX CONCURRENTLY for each',
    };
  const { rows: rights } = await client.query<[boolean | null]>({ text: MAY_CREATE, rowMode: 'array' });
  if (version < MIGRATIONS.length && rights[0]?.[0] !== true)
    return {
      subject: 'schema',
      verdict: 'wrong',
      message: 'the role may not create tables',
      remedy: 'log in with a role that owns the database, or that ALTER ROLE … SET role makes the owner',
    };
  if (version >= FIRST_WITH_FEEDS) {
    const { rows: gaps } = await client.query<[string]>({ text: GAPS, rowMode: 'array' });
    if (gaps.length > 0)
      return {
        subject: 'schema',
        verdict: 'wrong',
        message: `the triggers of these feeds are missing or disabled, so that changes are lost: ${gaps.flat().join(', ')}`,
        remedy: 'start the service, which makes them again and lets the cursors expire',
      };
  }
  if (version === 0) return ok('schema', 'there is none; the first start makes it');
  if (version >= MIGRATIONS.length) return ok('schema', `it is of version ${version}`);
  return {
    subject: 'schema',
    verdict: 'warning',
    message: `it is of version ${version}; this release makes ${MIGRATIONS.length} of it`,
    remedy: 'the next start does that; with many records it takes minutes',
  };
}

function diagnosisOf(error: unknown): Diagnosis {
  const wrong = (message: string, remedy: string): Diagnosis => ({
    subject: 'store',
    verdict: 'wrong',
    message,
    remedy,
  });
  if (error instanceof StoreConfigError)
    return wrong(error.message.replace(/\.$/, ''), 'correct POSTGRESQL_URL or the server');
  if (error instanceof AppError)
    return wrong(
      `PostgreSQL cannot be used now: ${error.cause instanceof Error ? systemReason(error.cause) : error.message}`,
      'start it, and check the host and the port in POSTGRESQL_URL',
    );
  const { name, message } = error as Error;
  return wrong(`PostgreSQL cannot be used (${name}: ${message})`, 'see the log of the server');
}

function ok(subject: string, message: string): Diagnosis {
  return { subject, verdict: 'ok', message };
}
