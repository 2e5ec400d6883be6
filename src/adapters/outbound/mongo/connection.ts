import { randomUUID } from 'node:crypto';
import { type Db, type Document, Long, type MongoClient, type MongoClientOptions } from 'mongodb';
import { type PoolFigures, StoreConfigError } from '../../../application/ports/store.js';
import { unavailable } from '../../../domain/errors.js';

const DEFAULT_DATABASE = 'catalogue';

/** The time that the driver's retry and its search for another primary may take beyond the socket time-out. */
const SECOND_TRY_MS = 300;

/** The driver's own defaults wait 30 seconds or forever. MONGODB_URL may override each of these by the same name. */
const DEFAULTS = {
  appName: 'product-catalogue-service',
  serverSelectionTimeoutMS: 1_000,
  connectTimeoutMS: 1_000,
  socketTimeoutMS: 1_500,
  waitQueueTimeoutMS: 1_000,
  heartbeatFrequencyMS: 500,
  minHeartbeatFrequencyMS: 100,
  maxPoolSize: 50,
  minPoolSize: 2,
  maxIdleTimeMS: 60_000,
} satisfies MongoClientOptions;

/** The options that the guarantees of the service depend on. */
const REQUIRED_OPTIONS = {
  readConcern: { level: 'majority' },
  readPreference: 'primary',
  retryWrites: true,
  retryReads: true,
  ignoreUndefined: true,
} satisfies MongoClientOptions;

/**
 * Options of the URL that could weaken the guarantees of the service or change how it reads documents. Each has its
 * only allowed value, or `undefined` if it must be absent. The names are in lower case, since the driver ignores
 * their case (https://github.com/mongodb/specifications, uri-options.md).
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
  // The driver would retry a write for this whole time, long after the client got 503.
  timeoutms: undefined,
  ignoreundefined: 'true',
  promotevalues: 'true',
  promotelongs: 'true',
  promotebuffers: 'false',
  usebigint64: 'false',
  raw: 'false',
  fieldsasraw: undefined,
};

/** The settings of MONGODB_URL, completed by the defaults. */
export interface MongoConnection {
  readonly options: MongoClientOptions;
  readonly hosts: string;
  readonly database: string;
  /** How long a caller waits for an ordinary operation. */
  readonly operationMs: number;
}

/**
 * @param url see https://www.mongodb.com/docs/manual/reference/connection-string/; without a database: `catalogue`
 * @param longestMs the longest time until the server responds to any operation
 * @throws StoreConfigError with one line for each problem; no line contains a value of the URL
 */
export function parseConnectionString(url: string, longestMs: number): MongoConnection {
  const named = optionsNamedIn(url);
  const problems = named.flatMap(([name, value]) => problemOf(name, value));
  if (problems.length > 0) throw new StoreConfigError(problems.join('\n'));
  // 0 means no time-out for the driver; callers wait as long as by default.
  const patienceMs = Number(new Map(named).get('sockettimeoutms') ?? 0) || DEFAULTS.socketTimeoutMS;
  const [, hosts = '', database = ''] = /^mongodb(?:\+srv)?:\/\/(?:[^@/]*@)?([^/?]*)\/?([^?#]*)/.exec(url) ?? [];
  return {
    options: optionsFor(new Set(named.map(([name]) => name)), patienceMs, longestMs),
    hosts,
    database: databaseOf(database),
    operationMs: SECOND_TRY_MS + patienceMs,
  };
}

/** Returns the URL with this socket timeout if it has none. 0 means none. */
export function withSocketTimeout(url: string, ms: number): string {
  const [parameter, name, value] = /([?&]socketTimeoutMS=)(\d*)/i.exec(url) ?? [];
  if (parameter) return Number(value) > 0 ? url : url.replace(parameter, `${name}${ms}`);
  const [base = '', query] = url.split('?', 2);
  const database = /^mongodb(?:\+srv)?:\/\/[^/]+$/.test(base) ? '/' : '';
  return `${base}${database}?${query ? `${query}&` : ''}socketTimeoutMS=${ms}`;
}

function optionsFor(named: ReadonlySet<string>, patienceMs: number, longestMs: number): MongoClientOptions {
  const defaults = { ...DEFAULTS, socketTimeoutMS: Math.max(DEFAULTS.socketTimeoutMS, longestMs) };
  const unnamed = Object.entries(defaults).filter(([name]) => !named.has(name.toLowerCase()));
  const hasTimeout = named.has('wtimeoutms') || named.has('wtimeout');
  return {
    ...Object.fromEntries(unnamed),
    ...REQUIRED_OPTIONS,
    writeConcern: { w: 'majority', journal: true, ...(!hasTimeout && { wtimeoutMS: patienceMs }) },
  };
}

/** The options of the URL, names in lower case. */
function optionsNamedIn(url: string): [name: string, value: string][] {
  const [, query = ''] = /\?([^#]*)/.exec(url) ?? [];
  return [...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value]);
}

function problemOf(name: string, value: string): string[] {
  if (!Object.hasOwn(ALLOWED_VALUES, name)) return [];
  const allowed = ALLOWED_VALUES[name];
  if (value === allowed) return [];
  const instead = allowed === undefined ? '' : ` or set it to ${allowed}`;
  return [`MONGODB_URL sets ${name}, on which guarantees of the service depend; leave it out${instead}.`];
}

/** @see https://www.mongodb.com/docs/manual/reference/limits/#naming-restrictions */
function databaseOf(encoded: string): string {
  try {
    const name = decodeURIComponent(encoded) || DEFAULT_DATABASE;
    if (!/[/\\. "$*<>:|?\0]/.test(name) && Buffer.byteLength(name) < 64) return name;
  } catch {
    // Malformed percent-encoding.
  }
  throw new StoreConfigError('MONGODB_URL names a database that MongoDB cannot have.');
}

/** The wire version of MongoDB 5.0. From 5.0 on, a query outside of a transaction may read a snapshot. */
const WIRE_VERSION_5_0 = 13;

/**
 * Checks a server by its response to `hello`.
 * @throws StoreConfigError if it can never read a snapshot; a query would fail with NotAReplicaSet or InvalidOptions
 * @throws AppError `unavailable` if its replica set is not initiated yet
 */
export function checkServer({ setName, msg, isreplicaset, maxWireVersion }: Document): void {
  if (maxWireVersion < WIRE_VERSION_5_0)
    throw new StoreConfigError('MONGODB_URL leads to a server older than MongoDB 5.0, which is needed.');
  if (setName || msg === 'isdbgrid') return;
  if (isreplicaset) throw unavailable('The replica set has not been initiated yet.');
  throw new StoreConfigError(
    'MONGODB_URL leads to a standalone server. A replica set is needed, if only of one member: ' +
      'start mongod with --replSet, then run rs.initiate().',
  );
}

const LOSES_TYPES =
  'MONGODB_URL leads to a server of another make that takes an int32 and an int64 of one value for equal, so changes ' +
  'would never get into the feed; use MongoDB itself, or set CHANGES=off.';

/** A document that is only there for a moment. */
interface ScratchDocument {
  readonly _id: string;
  /** The field of the TTL index of the collection, which deletes the document if the process dies. */
  readonly hour: Date;
  readonly version: number | Long;
}

/**
 * Checks that `$set` makes an int32 an int64 of the same value, by a document that is deleted at once. Any number of
 * processes may do so at the same time.
 * @throws StoreConfigError
 */
export async function checkNumberTypes(database: Db, collection: string, maxTimeMS?: number): Promise<void> {
  const scratch = database.collection<ScratchDocument>(collection);
  const _id = `scratch ${randomUUID()}`;
  const options = maxTimeMS === undefined ? {} : { maxTimeMS };
  await scratch.insertOne({ _id, hour: new Date(), version: 1 }, options);
  await scratch.updateOne({ _id }, { $set: { version: Long.ONE } }, options);
  const { deletedCount } = await scratch.deleteOne({ _id, version: { $type: 'long' } }, options);
  if (deletedCount > 0) return;
  await scratch.deleteOne({ _id }, options);
  throw new StoreConfigError(LOSES_TYPES);
}

/** Added to the time that the driver grants a heartbeat: a busy process learns late that one has ended. */
const HEARTBEAT_MARGIN_MS = 2_000;

/**
 * Calls `stuck` if a heartbeat of the driver never ends. If a connection breaks at the moment at which a heartbeat
 * begins, mongodb 7.8 waits for the heartbeat without a time-out, considers the server lost and never checks again, so
 * the client is useless.
 */
export function onStuckHeartbeat(client: MongoClient, stuck: () => void): void {
  const { connectTimeoutMS, heartbeatFrequencyMS } = client.options;
  // 0 means no time-out for the driver.
  if (connectTimeoutMS === 0) return;
  const limitMs = connectTimeoutMS + heartbeatFrequencyMS + HEARTBEAT_MARGIN_MS;
  const running = new Map<string, NodeJS.Timeout>();
  const end = (address: string) => {
    clearTimeout(running.get(address));
    running.delete(address);
  };
  client.on('serverHeartbeatStarted', ({ connectionId: address }) => {
    end(address);
    running.set(address, setTimeout(stuck, limitMs).unref());
  });
  client.on('serverHeartbeatSucceeded', ({ connectionId }) => end(connectionId));
  client.on('serverHeartbeatFailed', ({ connectionId }) => end(connectionId));
  client.on('serverClosed', ({ address }) => end(address));
}

/** Counts the connections of a client, of all servers of the replica set together. */
export class PoolWatch {
  private open = 0;
  private used = 0;
  private waiting = 0;
  private timeouts: number;

  /** @param before the watch of the client before this one */
  constructor(
    private readonly client: MongoClient,
    before?: PoolWatch,
  ) {
    this.timeouts = before?.timeouts ?? 0;
    client.on('connectionCreated', () => this.open++);
    client.on('connectionClosed', () => this.open--);
    client.on('connectionCheckOutStarted', () => this.waiting++);
    client.on('connectionCheckedOut', () => {
      this.waiting--;
      this.used++;
    });
    client.on('connectionCheckedIn', () => this.used--);
    client.on('connectionCheckOutFailed', ({ reason }) => {
      this.waiting--;
      if (reason === 'timeout') this.timeouts++;
    });
  }

  get figures(): PoolFigures {
    const { open, used, waiting, timeouts } = this;
    const max = this.client.options.maxPoolSize;
    const idle = Math.max(0, open - used);
    // 0 means no limit for the driver.
    return { pool: 'mongodb', used, idle, ...(max > 0 && { max }), waiting, timeouts };
  }
}
