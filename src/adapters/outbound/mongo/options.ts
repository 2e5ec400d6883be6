import type { MongoClientOptions } from 'mongodb';
import { UnusableStore } from '../../../application/ports/store.js';

const DEFAULT_DATABASE = 'catalogue';

/** For the driver's own second try and its search for another primary, beside the time-out of the socket. */
const SECOND_TRY_MS = 300;

/** The driver's own defaults wait 30 seconds or for ever. Each may be set otherwise in MONGODB_URL, by the same name. */
const DEFAULTS = {
  appName: 'product-catalogue-service',
  serverSelectionTimeoutMS: 1_000,
  connectTimeoutMS: 1_000,
  socketTimeoutMS: 1_500,
  waitQueueTimeoutMS: 1_000,
  heartbeatFrequencyMS: 1_000,
  minHeartbeatFrequencyMS: 100,
  maxPoolSize: 50,
  minPoolSize: 2,
  maxIdleTimeMS: 60_000,
} satisfies MongoClientOptions;

/** What the writes and reads promise. */
const PROMISES = {
  readConcern: { level: 'majority' },
  readPreference: 'primary',
  retryWrites: true,
  retryReads: true,
  ignoreUndefined: true,
} satisfies MongoClientOptions;

/**
 * Options of the URL that would weaken what the service promises or change how it reads documents: the one value that
 * each may have, `undefined` where it must be absent. The driver ignores the case of names
 * (https://github.com/mongodb/specifications, uri-options.md), so they are in lower case here.
 */
const ALLOWED_VALUES: Readonly<Record<string, string | undefined>> = {
  w: 'majority',
  journal: 'true',
  j: 'true',
  fsync: undefined,
  writeconcern: 'majority',
  readconcernlevel: 'majority',
  readconcern: undefined,
  readpreference: 'primary',
  readpreferencetags: undefined,
  maxstalenessseconds: undefined,
  retrywrites: 'true',
  retryreads: 'true',
  // The driver would go on trying a write for all that time, though it was answered with 503 long before.
  timeoutms: undefined,
  ignoreundefined: 'true',
  promotevalues: 'true',
  promotelongs: 'true',
  promotebuffers: 'false',
  usebigint64: 'false',
  raw: 'false',
  fieldsasraw: undefined,
};

/** What MONGODB_URL says, completed by what it leaves open. */
export interface MongoConnection {
  readonly options: MongoClientOptions;
  readonly hosts: string;
  readonly database: string;
  /** How long a caller waits for an ordinary operation, in milliseconds. */
  readonly operationMs: number;
}

/**
 * @param url as https://www.mongodb.com/docs/manual/reference/connection-string/ has it; the database is the one that it
 *   names, else `catalogue`
 * @param longestMs of anything that is asked of the server, the way of its response included
 * @throws UnusableStore one line for each problem; none holds a value of the URL
 */
export function parseConnectionString(url: string, longestMs: number): MongoConnection {
  const named = optionsNamedIn(url);
  const problems = named.flatMap(([name, value]) => problemOf(name, value));
  if (problems.length > 0) throw new UnusableStore(problems.join('\n'));
  // 0 is the driver's word for none, by which nobody waits less.
  const patienceMs = Number(new Map(named).get('sockettimeoutms') ?? 0) || DEFAULTS.socketTimeoutMS;
  const [, hosts = '', database = ''] =
    /^mongodb(?:\+srv)?:\/\/(?:[^@/]*@)?([^/?]*)\/?([^?#]*)/.exec(url) ?? [];
  return {
    options: optionsFor(new Set(named.map(([name]) => name)), patienceMs, longestMs),
    hosts,
    database: databaseOf(database),
    operationMs: SECOND_TRY_MS + patienceMs,
  };
}

function optionsFor(named: ReadonlySet<string>, patienceMs: number, longestMs: number): MongoClientOptions {
  const defaults = { ...DEFAULTS, socketTimeoutMS: Math.max(DEFAULTS.socketTimeoutMS, longestMs) };
  const unnamed = Object.entries(defaults).filter(([name]) => !named.has(name.toLowerCase()));
  const hasTimeout = named.has('wtimeoutms') || named.has('wtimeout');
  return {
    ...Object.fromEntries(unnamed),
    ...PROMISES,
    writeConcern: { w: 'majority', journal: true, ...(!hasTimeout && { wtimeoutMS: patienceMs }) },
  };
}

/** With names in lower case. */
function optionsNamedIn(url: string): [name: string, value: string][] {
  const [, query = ''] = /\?([^#]*)/.exec(url) ?? [];
  return [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value]);
}

function problemOf(name: string, value: string): string[] {
  if (!Object.hasOwn(ALLOWED_VALUES, name)) return [];
  const allowed = ALLOWED_VALUES[name];
  if (value === allowed) return [];
  const instead = allowed === undefined ? '' : ` or set it to ${allowed}`;
  return [`MONGODB_URL sets ${name}, on which what the service promises depends; leave it out${instead}.`];
}

/** @see https://www.mongodb.com/docs/manual/reference/limits/#naming-restrictions */
function databaseOf(encoded: string): string {
  try {
    const name = decodeURIComponent(encoded) || DEFAULT_DATABASE;
    if (!/[/\\. "$*<>:|?\0]/.test(name) && Buffer.byteLength(name) < 64) return name;
  } catch {
    // It is no name either.
  }
  throw new UnusableStore('MONGODB_URL names a database that MongoDB cannot have.');
}
