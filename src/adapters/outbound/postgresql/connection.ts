import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { StoreConfigError } from '../../../application/ports/store.js';
import { translateStartError } from './errors.js';

const DEFAULT_DATABASE = 'catalogue';

/** How long a caller waits for a connection; in the URL `connect_timeout`, in seconds as for other programs. */
const CONNECT_MS = 1_000;

/** How long the server works on a short operation; in the URL `statement_timeout`, in milliseconds as on the server. */
const STATEMENT_MS = 1_500;

/** The time of a statement on the network, in addition to the time that the server may take. */
export const ROUND_TRIP_MS = 500;

const MAX_TIMEOUT_MS = 3_600_000;

/** What `sslmode` may be: no other value both demands TLS and checks the name of the server. */
const SSL_MODES = ['disable', 'verify-full'];

/** Those about TLS, and the files that they name. */
const TLS_PARAMETERS = ['sslcert', 'sslkey', 'sslmode', 'sslrootcert'];

/** Those that neither weaken a guarantee of the service nor take the place of its own settings. */
const ALLOWED_PARAMETERS = [
  'application_name',
  'connect_timeout',
  'host',
  'options',
  'sslnegotiation',
  'statement_timeout',
  ...TLS_PARAMETERS,
].sort();

/** What to write instead of parameters that URLs of providers have. */
const INSTEAD: Readonly<Record<string, string>> = {
  channel_binding: 'leave it out',
  pgbouncer: 'leave it out, and set POSTGRESQL_PREPARED=off for PgBouncer in transaction mode',
  schema: 'write options=-c%20search_path=SCHEMA',
  ssl: 'write sslmode=verify-full',
};

/** What a person should know of a connection that is unprotected. */
export const CLEAR_TEXT =
  'the connection to PostgreSQL leads to another machine and is not encrypted: POSTGRESQL_URL says sslmode=disable';

/** An update that waits for another one then compares the version again, instead of failing. */
const ISOLATION = String.raw`-c default_transaction_isolation=read\ committed`;
/** Compiling a statement takes longer than running one of the service does. */
const NO_COMPILER = '-c jit=off';
/** Shows the service whether these have reached the server, or a program between has dropped them. */
const MARK = '-c catalogue.session=on';

/** Integers are at most 2^53. */
const INT8 = 20;
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

export interface PostgresqlConnection {
  /** For a person; contains no secret. */
  readonly location: string;
  /** For clients that no pool has, and that run statements of any length. */
  readonly client: pg.ClientConfig;
  readonly operations: pg.PoolConfig;
  /** How long the server may work on one operation. */
  readonly operationMs: number;
  readonly searches: pg.PoolConfig;
  /** Whether the password and the data cross a network in clear text: the URL says so. */
  readonly isUnprotected: boolean;
  /** Absent: each connection is a session of the server. Otherwise the longest `statement_timeout` of the role. */
  readonly roleMs?: number;
}

/**
 * @param url see https://www.postgresql.org/docs/current/libpq-connect.html, "Connection URIs", with one host; without a
 *   database: `catalogue`
 * @param queryMs how long the server may work on a query that reads many records
 * @param hasSessions whether each connection is a session of the server, which has parameters and prepared statements of
 *   its own; not so behind PgBouncer in transaction mode
 * @throws StoreConfigError; the message contains no value of the URL
 */
export function parseUrl(url: string, queryMs: number, hasSessions = true): PostgresqlConnection {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !['postgresql:', 'postgres:'].includes(parsed.protocol))
    throw new StoreConfigError(
      'POSTGRESQL_URL is not of the form postgresql://NAME:PASSWORD@HOST:PORT/DATABASE; ' +
        'percent-encode special characters in the name and the password.',
    );
  const parameters = parsed.searchParams;
  for (const name of parameters.keys()) {
    if (!ALLOWED_PARAMETERS.includes(name))
      throw new StoreConfigError(
        `POSTGRESQL_URL sets ${name}, which is not possible; ` +
          `${INSTEAD[name] ?? `it may set ${ALLOWED_PARAMETERS.join(', ')}`}.`,
      );
    if (parameters.getAll(name).length > 1) throw new StoreConfigError(`POSTGRESQL_URL sets ${name} twice.`);
  }
  const sslmode = parameters.get('sslmode');
  if (sslmode !== null && !SSL_MODES.includes(sslmode))
    throw new StoreConfigError(
      `sslmode in POSTGRESQL_URL is neither ${SSL_MODES.join(' nor ')}; write sslmode=verify-full, ` +
        "and sslrootcert=FILE with the provider's CA if the certificate is of no public one.",
    );
  const taken = (name: string, unitMs: number, defaultMs: number) => {
    const text = parameters.get(name);
    parameters.delete(name);
    const ms = text === null ? defaultMs : Number(text) * unitMs;
    if (ms > 0 && ms <= MAX_TIMEOUT_MS) return ms;
    throw new StoreConfigError(`${name} in POSTGRESQL_URL is no time above 0, of one hour at most.`);
  };
  const connectMs = taken('connect_timeout', 1_000, CONNECT_MS);
  const operationMs = taken('statement_timeout', 1, STATEMENT_MS);
  if (parsed.pathname.length < 2) parsed.pathname = `/${DEFAULT_DATABASE}`;
  const named = parameters.get('options') ?? '';
  const host = parameters.get('host') ?? parsed.hostname;
  const [schema] = /(?<=search_path="?)[^\s,"]+/.exec(named) ?? [];
  const hasFiles = ['sslcert', 'sslkey', 'sslrootcert'].some((name) => parameters.has(name));
  const isClear = (sslmode ?? (isLocal(host) && !hasFiles ? 'disable' : 'verify-full')) === 'disable';
  parameters.set('sslmode', isClear ? 'disable' : 'verify-full');
  const ssl = readTls(parsed.href);
  for (const name of TLS_PARAMETERS) parameters.delete(name);
  if (hasSessions) parameters.set('options', [named, ISOLATION, NO_COMPILER, MARK].join(' ').trim());
  else if (named !== '')
    throw new StoreConfigError(
      'POSTGRESQL_URL sets options, which is not possible with POSTGRESQL_PREPARED=off; use ALTER ROLE … SET.',
    );
  const client: pg.ClientConfig = {
    connectionString: parsed.href,
    application_name: 'product-catalogue-service',
    ssl,
    // What the URL says prevails. Without this, the driver reads PGSSLNEGOTIATION.
    sslnegotiation: 'postgres',
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    types: TYPES,
  };
  const pool = (max: number, statementMs: number): pg.PoolConfig => ({
    ...client,
    idleTimeoutMillis: 60_000,
    max,
    ...(hasSessions && { statement_timeout: statementMs }),
    query_timeout: statementMs + ROUND_TRIP_MS,
  });
  return {
    location: [
      `PostgreSQL at ${host}:${parsed.port || '5432'}`,
      `database ${parsed.pathname.slice(1)}`,
      ...(schema ? [`schema ${schema}`] : []),
    ].join(', '),
    client,
    operations: { ...pool(10, operationMs), min: 2 },
    operationMs,
    searches: pool(4, queryMs),
    isUnprotected: isClear && !isLocal(host),
    ...(!hasSessions && { roleMs: Math.min(operationMs, queryMs) }),
  };
}

/** Returns the URL with this time for each statement, unless it has one, or is none. */
export function withStatementTimeout(url: string, ms: number | undefined): string {
  if (ms === undefined || !URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (!parsed.searchParams.has('statement_timeout')) parsed.searchParams.set('statement_timeout', `${ms}`);
  return parsed.href;
}

/**
 * Returns what a URL says about TLS, and the files that it names. The driver would read these for each connection, and
 * end the process if one cannot be read. Without `ssl`, it would also read PGSSLMODE.
 * @throws StoreConfigError
 */
function readTls(url: string): false | ConnectionOptions {
  try {
    const client = new pg.Client({ connectionString: url, ssl: false, sslnegotiation: 'postgres' });
    const { ssl } = client as { ssl?: boolean | ConnectionOptions };
    return ssl === true ? {} : (ssl ?? false);
  } catch (error) {
    const translated = translateStartError(error);
    if (translated instanceof StoreConfigError) throw translated;
    throw new StoreConfigError(`POSTGRESQL_URL says about TLS what cannot be: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

function isLocal(host: string): boolean {
  return host === '' || host.startsWith('/') || /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host);
}
