import { type Db, MongoClient, type MongoClientOptions, MongoParseError } from 'mongodb';
import type { RecordTable } from '../../../application/list-query.js';
import { type Store, UnusableStore } from '../../../application/ports/store.js';
import type { QueryBudget } from '../../../application/query-budget.js';
import { unavailable } from '../../../domain/errors.js';
import { uniqueFields } from '../../../domain/fields.js';
import { toCoreError } from './mongo-errors.js';

const DEFAULT_DATABASE = 'catalogue';

/** For the driver's own second try and its search for another primary, beside the time-out of the socket. */
const SECOND_TRY_MS = 300;

/**
 * The driver's own defaults wait 30 seconds or for ever. Each may be set otherwise in MONGODB_URL, by the same name;
 * what the writes and reads promise may not.
 */
const DEFAULTS = {
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

const PROMISES = {
  appName: 'product-catalogue-service',
  writeConcern: { w: 'majority', journal: true, wtimeoutMS: 1_500 },
  readConcern: { level: 'majority' },
  readPreference: 'primary',
  retryWrites: true,
  retryReads: true,
  ignoreUndefined: true,
} satisfies MongoClientOptions;

/** A MongoDB deployment, best a replica set: a write is acknowledged when a majority has it in the journal. */
export class MongoStore implements Store {
  readonly location: string;
  private readonly connect: () => MongoClient;
  private client: MongoClient;
  private hasFailed = false;
  /** So long a caller waits for one operation, whatever the driver still tries behind its back. */
  readonly operationMs: number;
  private readonly database: string;
  private closed = false;

  /**
   * @param url as https://www.mongodb.com/docs/manual/reference/connection-string/ has it; the database is the one
   *   that it names, else `catalogue`
   * @throws UnusableStore where the URL is none; its message holds no part of it
   */
  constructor(
    url: string,
    private readonly tables: readonly RecordTable[],
    readonly budget: QueryBudget,
  ) {
    const given = new Set([...url.matchAll(/[?&]([A-Za-z]+)=/g)].map(([, name]) => name));
    const defaults = Object.fromEntries(Object.entries(DEFAULTS).filter(([name]) => !given.has(name)));
    this.connect = () => new MongoClient(url, { ...defaults, ...PROMISES });
    this.client = this.firstClient();
    this.operationMs = this.client.options.socketTimeoutMS + SECOND_TRY_MS;
    const [, hosts = '', database] = /^mongodb(?:\+srv)?:\/\/(?:[^@/]*@)?([^/?]*)\/?([^?]*)/.exec(url) ?? [];
    this.database = database || DEFAULT_DATABASE;
    this.location = `MongoDB at ${hosts}, database ${this.database}`;
  }

  private firstClient(): MongoClient {
    try {
      return this.connect();
    } catch (error) {
      const reason =
        error instanceof MongoParseError
          ? 'is not a MongoDB connection string'
          : 'has options that do not fit';
      throw new UnusableStore(`MONGODB_URL ${reason}; see the driver's manual.`, { cause: error });
    }
  }

  /** Makes the indexes; those that are there already stay, so that any number of processes may start at once. */
  async open(): Promise<void> {
    // A client whose first connection failed never makes another.
    if (this.hasFailed) {
      await this.client.close();
      this.client = this.connect();
    }
    this.hasFailed = true;
    await this.ping();
    for (const { name, fields } of this.tables) {
      const indexes = uniqueFields(fields).map((field) => ({
        key: { [`fields.${field}`]: 1 },
        name: field,
        unique: true,
        sparse: true,
      }));
      const inOrder = { key: { live: 1, _id: 1 }, name: 'live' } as const;
      await this.run((database) => database.collection(name).createIndexes([inOrder, ...indexes]));
    }
    this.hasFailed = false;
  }

  async ping(): Promise<void> {
    await this.run((database) => database.command({ ping: 1 }));
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.client.close();
  }

  /** Runs one operation. Where it is not done in time its outcome is unknown, and it may still be done later. */
  async run<Result>(operation: (database: Db) => Promise<Result>): Promise<Result> {
    if (this.closed) throw unavailable('The store is closed.');
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(unavailable('The store did not answer in time.')), this.operationMs);
    });
    try {
      return await Promise.race([operation(this.client.db(this.database)), late]);
    } catch (error) {
      throw toCoreError(error);
    } finally {
      clearTimeout(timer);
    }
  }
}
