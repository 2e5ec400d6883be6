import pg from 'pg';
import { StoreConfigError } from '../../../application/ports/store.js';
import { unavailable } from '../../../domain/errors.js';
import type { PostgresqlConnection } from './connection.js';
import { isLockTimeout, isTableMissing, translateStartError } from './errors.js';
import { LAST_TAKEN, MIGRATIONS, stepsFrom } from './migrations.js';

/** The number of the advisory lock that a process holds while it changes the schema of a database: the letters `pcs1`. */
const LOCK = 0x70637331;

/** How long a statement may wait for other transactions, so that those behind it do not wait longer. */
const LOCK_WAIT = '2s';
const MAX_TRIES = 10;

/** How long the server may take for a step, which may read all records. */
const STEP_MS = 600_000;
const QUESTION_MS = 2_000;

const OLDEST_VERSION = 150_000;

/** What a server says about itself, as far as the guarantees of the service depend on it. */
const FACTS = `SELECT
  current_setting('server_version_num')::integer AS version,
  current_setting('server_version') AS name,
  current_setting('server_encoding') AS encoding,
  current_setting('synchronous_commit') AS commit,
  current_setting('synchronous_standby_names') <> '' AS "hasStandbys",
  current_setting('transaction_read_only') = 'on' AS "isReadOnly",
  current_setting('fsync') = 'on' AS "hasFsync",
  current_setting('default_transaction_isolation') AS isolation,
  (SELECT setting::integer FROM pg_settings WHERE name = 'statement_timeout') AS "statementMs",
  current_setting('catalogue.session', true) = 'on' AS "hasSession",
  (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`;

export interface ServerFacts {
  readonly version: number;
  readonly name: string;
  readonly encoding: string;
  readonly commit: string;
  readonly hasStandbys: boolean;
  readonly isReadOnly: boolean;
  readonly hasFsync: boolean;
  readonly isolation: string;
  /** 0: there is no limit. */
  readonly statementMs: number;
  /** Whether the options of the connection have reached the server. */
  readonly hasSession: boolean | null;
  /** Milliseconds since 1970 by the clock of the server. */
  readonly now: number;
}

/**
 * Makes the schema current.
 * @throws AppError `unavailable` if a later try may succeed, else StoreConfigError; definite errors of the server
 */
export async function prepareSchema({ client: config, roleMs }: PostgresqlConnection): Promise<void> {
  await withClient(config, async (client) => {
    checkServer(await factsOf(client), roleMs);
    if ((await versionOf(client)) < MIGRATIONS.length) await alter(client, (run) => takeSteps(client, run));
  });
}

/** Runs a statement, which may read all records. */
export type Run = (text: string) => Promise<pg.QueryResult>;

/**
 * Changes the schema in one transaction. The lock ends with it, so processes that do so at once take turns.
 * @throws definite errors of the server; after several tries that others keep a table locked
 */
export async function alter(client: pg.Client, change: (run: Run) => Promise<void>): Promise<void> {
  const run: Run = (text) => client.query({ text, query_timeout: STEP_MS } as pg.QueryConfig);
  for (let tries = 1; ; tries++)
    try {
      await run('BEGIN');
      await run(`SET LOCAL lock_timeout = '${LOCK_WAIT}'; SET LOCAL statement_timeout = ${STEP_MS}`);
      await run(`SELECT pg_advisory_xact_lock(${LOCK})`);
      await change(run);
      await run('COMMIT');
      return;
    } catch (error) {
      await run('ROLLBACK').catch(() => {});
      if (!isLockTimeout(error) || tries === MAX_TRIES) throw error;
    }
}

/** Uses a connection of its own. @throws as {@link prepareSchema} */
export async function withClient<Result>(
  config: pg.ClientConfig,
  use: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  let client: pg.Client | undefined;
  try {
    // It reads the files that the URL names.
    client = new pg.Client({ ...config, query_timeout: QUESTION_MS });
    client.on('error', () => {});
    await client.connect();
    return await use(client);
  } catch (error) {
    throw error instanceof StoreConfigError ? error : translateStartError(error);
  } finally {
    client?.end().catch(() => {});
  }
}

export async function factsOf(client: pg.Client): Promise<ServerFacts> {
  const { rows } = await client.query<ServerFacts>(FACTS);
  return rows[0] as ServerFacts;
}

/**
 * @param roleMs as of {@link PostgresqlConnection}
 * @throws StoreConfigError if the service cannot keep its guarantees on this server
 * @throws AppError `unavailable` if it only reads: it follows another server, or an operator has set it so
 */
export function checkServer(facts: ServerFacts, roleMs?: number): void {
  const { version, encoding, commit, hasStandbys, isReadOnly, isolation, statementMs, hasSession } = facts;
  const refuse = (reason: string) => {
    throw new StoreConfigError(`POSTGRESQL_URL leads to a ${reason}.`);
  };
  if (version < OLDEST_VERSION) refuse('server older than PostgreSQL 15, which is needed');
  if (encoding !== 'UTF8') refuse(`database with the encoding ${encoding}; UTF8 is needed`);
  if (commit === 'off' || (commit === 'local' && hasStandbys))
    refuse(`server with synchronous_commit=${commit}, which loses acknowledged writes; set it to on`);
  if (roleMs === undefined && hasSession !== true)
    refuse(
      'program that drops the settings of the service, such as PgBouncer; ' +
        'set POSTGRESQL_PREPARED to off, and the settings of the role as it needs them',
    );
  if (isolation !== 'read committed')
    refuse(`role with default_transaction_isolation=${isolation}; read committed is needed`);
  if (roleMs !== undefined && !(statementMs > 0 && statementMs <= roleMs))
    refuse(`role with statement_timeout=${statementMs}; POSTGRESQL_PREPARED=off needs 1 to ${roleMs}, in milliseconds`);
  if (isReadOnly) throw unavailable('The PostgreSQL server is read-only.');
}

/**
 * Returns the steps that the database has.
 * @throws StoreConfigError if they demand a later release, or are those of a build that this one does not upgrade
 */
export async function versionOf(client: pg.Client): Promise<number> {
  try {
    const { rows } = await client.query<{ version: number; demands: number }>(
      'SELECT version, demands FROM schema_version',
    );
    const { version = 0, demands = 0 } = rows[0] ?? {};
    if (demands > MIGRATIONS.length)
      throw new StoreConfigError(
        `The database has schema ${version}, which a later release made. Start that release, or restore a backup.`,
      );
    if (version > 0 && version < LAST_TAKEN)
      throw new StoreConfigError(
        `The database has schema ${version} of an unreleased build. Start the commit 6824beef once with it, which brings it to ${LAST_TAKEN}.`,
      );
    return version;
  } catch (error) {
    if (isTableMissing(error)) return 0;
    throw error;
  }
}

/** Takes the steps that are missing, unless another process has taken them meanwhile. */
async function takeSteps(client: pg.Client, run: Run): Promise<void> {
  // A release whose steps are fewer than `demands` must not use the database.
  await run('CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL, demands integer NOT NULL)');
  const version = await versionOf(client);
  if (version >= MIGRATIONS.length) return;
  await run(stepsFrom(version));
  if (version === 0) await run(`INSERT INTO schema_version VALUES (${MIGRATIONS.length}, 1)`);
  else await run(`UPDATE schema_version SET version = ${MIGRATIONS.length}`);
}
