import {
  type ClientSession,
  type Collection,
  type Db,
  type Document,
  MongoClient,
  type MongoClientOptions,
  MongoParseError,
} from 'mongodb';
import { ServerCalls } from '../../../application/maintenance/server-calls.js';
import { type PoolFigures, type Store, StoreConfigError } from '../../../application/ports/store.js';
import type { QueryBudget } from '../../../application/records/lists.js';
import { unavailable } from '../../../domain/errors.js';
import { withTimeout } from '../../../shared/promises.js';
import type { Task } from '../../../shared/task-scheduler.js';
import { checkServer, onStuckHeartbeat, PoolWatch, parseConnectionString } from './connection.js';
import { isTooExpensive, signOf, translateError } from './errors.js';
import { type CollectionIndexes, IndexPreparation } from './indexes.js';

/** The time of a query on the network, in addition to the time that the server may take. */
const ROUND_TRIP_MS = 500;

/**
 * The time that a heartbeat may be late. The store is silent if it has responded to nothing, heartbeats included, for
 * longer than their interval and this.
 */
const LATE_HEARTBEAT_MS = 1_000;

/** The part of the connections that queries without an index may use at the same time. */
const SEARCH_PART = 1 / 4;

/** The part of the connections that all calls on many records together may use, and the most of them. */
const BATCH_PART = 1 / 3;
const MAX_BATCH_SLOTS = 16;

/** The shortest time that one call of `open` waits for the indexes. */
const INDEXES_MS = 5_000;

/** An operation on a collection. It passes `maxTimeMS` to the server. */
export type CollectionOperation<Kind extends Document, Result> = (
  all: Collection<Kind>,
  maxTimeMS: number,
) => Promise<Result>;

/** {@link MongoStore.run} and {@link MongoStore.search} on one collection. */
export interface MongoCollection<Kind extends Document> {
  run<Result>(operation: CollectionOperation<Kind, Result>): Promise<Result>;
  search<Result>(query: CollectionOperation<Kind, Result>, task?: Task): Promise<Result>;
}

/**
 * A MongoDB replica set of one member or more, or a cluster of replica sets behind mongos. It needs MongoDB 5.0 or
 * later, for snapshot reads and retryable writes. A write is acknowledged when a majority has it in the journal.
 */
export class MongoStore implements Store {
  readonly location: string;
  /** How long a caller waits for one operation, even if the driver still retries it. */
  readonly operationMs: number;
  readonly calls: ServerCalls;
  private readonly connect: (over?: MongoClientOptions) => MongoClient;
  private client: MongoClient;
  /** Watches the connections of {@link client}. */
  private pool: PoolWatch | undefined;
  /** The database of the client. Making it, or a collection of it, costs more than an operation needs otherwise. */
  private current: Db;
  private readonly indexes: IndexPreparation;
  private readonly database: string;
  private closed = false;

  /**
   * @param url as in {@link parseConnectionString}
   * @throws StoreConfigError if the URL is invalid or weakens the guarantees of the service; no message contains a
   *   value of the URL
   */
  constructor(
    url: string,
    indexes: readonly CollectionIndexes[],
    readonly budget: QueryBudget,
  ) {
    const { options, hosts, database, operationMs } = parseConnectionString(url, budget.timeoutMs + ROUND_TRIP_MS);
    this.connect = (over) => new MongoClient(url, { ...options, ...over });
    this.database = database;
    this.client = this.firstClient();
    this.current = this.client.db(database);
    this.operationMs = operationMs;
    const { heartbeatFrequencyMS, maxPoolSize, waitQueueTimeoutMS } = this.client.options;
    // 0 means no limit for the driver.
    const poolSize = maxPoolSize || Number.POSITIVE_INFINITY;
    const part = (fraction: number) => Math.max(1, Math.floor(poolSize * fraction));
    this.calls = new ServerCalls({
      breaker: {
        silenceMs: heartbeatFrequencyMS + LATE_HEARTBEAT_MS,
        probe: () =>
          withTimeout(
            this.begin((current) => current.command({ ping: 1 })),
            operationMs,
          ),
        translate: translateError,
        signOf,
        now: () => performance.now(),
      },
      quota: {
        searches: part(SEARCH_PART),
        searchPatienceMs: waitQueueTimeoutMS || operationMs,
        batches: Math.min(MAX_BATCH_SLOTS, part(BATCH_PART)),
        batchPatienceMs: operationMs,
      },
      operationMs,
      searchMs: Math.max(budget.timeoutMs + ROUND_TRIP_MS, operationMs),
      isTooExpensive,
    });
    const single = { socketTimeoutMS: 0, minPoolSize: 0, maxPoolSize: 1 };
    this.indexes = new IndexPreparation(() => this.connect(single), database, indexes);
    this.location = `MongoDB at ${hosts}, database ${database}`;
  }

  /** The driver throws MongoParseError for options only. Its parser of the string has an error class of its own. */
  private firstClient(): MongoClient {
    try {
      return this.watchedClient();
    } catch (error) {
      const reason =
        error instanceof MongoParseError
          ? "has options that do not fit; see the driver's manual"
          : 'is not a MongoDB connection string; percent-encode special characters in its name and password';
      throw new StoreConfigError(`MONGODB_URL ${reason}.`, { cause: error });
    }
  }

  private use(client: MongoClient): void {
    this.client = client;
    this.current = client.db(this.database);
  }

  private watchedClient(): MongoClient {
    const client = this.connect();
    this.pool = new PoolWatch(client, this.pool);
    client.on('serverHeartbeatSucceeded', ({ reply }) => {
      // A secondary responds also while the primary is gone.
      if (reply['isWritablePrimary'] ?? reply['ismaster']) this.calls.breaker.responded();
    });
    client.on('serverHeartbeatFailed', ({ failure }) => this.calls.breaker.missed(failure));
    onStuckHeartbeat(client, () => this.replace(client));
    // A client whose first connection fails closes itself and never connects again.
    client.on('topologyClosed', () => this.replace(client));
    return client;
  }

  private replace(client: MongoClient): void {
    if (this.closed || client !== this.client) return;
    this.use(this.watchedClient());
    // Operations that still run on the old client fail. An error of the close itself does not matter.
    client.close().catch(() => {});
  }

  /**
   * Creates the missing indexes, so any number of processes may start at once.
   * @throws StoreConfigError if this store cannot work with the server or with an index in it
   */
  async open(): Promise<void> {
    const { breaker } = this.calls;
    breaker.end();
    const hello = this.begin((database) => database.command({ hello: 1 }));
    checkServer(await breaker.wait(this.operationMs, hello));
    const waitMs = Math.max(this.operationMs, INDEXES_MS);
    await breaker.wait(
      waitMs,
      this.begin(() => this.indexes.done()),
      'The indexes are still being made.',
    );
    this.calls.isOpen = true;
  }

  async ping(): Promise<void> {
    await this.run((database) => database.command({ ping: 1 }));
  }

  pools(): readonly PoolFigures[] {
    return this.pool ? [this.pool.figures] : [];
  }

  async close(): Promise<void> {
    this.closed = true;
    this.calls.breaker.close();
    await this.indexes.close();
    await this.client.close();
  }

  /**
   * @param operation passes `maxTimeMS` to the server, for writes too
   *   (https://www.mongodb.com/docs/manual/reference/command/insert/), so that no write is done long after its caller
   *   left
   * @throws as {@link ServerCalls.run}
   */
  run<Result>(operation: (database: Db, maxTimeMS: number) => Promise<Result>): Promise<Result> {
    return this.calls.run(() => this.begin((database) => operation(database, this.operationMs)));
  }

  causally(): CausalOperations {
    return new CausalOperations(this);
  }

  /**
   * @param query passes `maxTimeMS` to the server
   * @throws as {@link ServerCalls.search}
   */
  search<Result>(query: (database: Db, maxTimeMS: number) => Promise<Result>, task?: Task): Promise<Result> {
    return this.calls.search(() => this.begin((database) => query(database, this.budget.timeoutMs)), task);
  }

  collection<Kind extends Document>(name: string): MongoCollection<Kind> {
    let last: { readonly database: Db; readonly all: Collection<Kind> } | undefined;
    const of = (database: Db) => {
      if (last?.database !== database) last = { database, all: database.collection<Kind>(name) };
      return last.all;
    };
    return {
      run: (operation) => this.run((database, maxTimeMS) => operation(of(database), maxTimeMS)),
      search: (query, task) => this.search((database, maxTimeMS) => query(of(database), maxTimeMS), task),
    };
  }

  protected async begin<Result>(operation: (database: Db) => Promise<Result>): Promise<Result> {
    if (this.closed) throw unavailable('The store is closed.');
    return operation(this.current);
  }
}

/**
 * Operations one after the other, each of which sees what those before it saw or wrote, also if another member has
 * become the primary in between, or the former one does not know it yet
 * (https://www.mongodb.com/docs/manual/core/causal-consistency-read-write-concerns/).
 */
export class CausalOperations {
  constructor(
    private readonly store: MongoStore,
    private last: Pick<ClientSession, 'operationTime' | 'clusterTime'> = {},
  ) {}

  /** Returns operations that see the same. Those of two callers do not wait for each other. */
  fork(): CausalOperations {
    return new CausalOperations(this.store, this.last);
  }

  /** As {@link MongoStore.run}. Each operation has its own session: the store may have another client at the next. */
  run<Result>(
    operation: (
      database: Db,
      options: { readonly session: ClientSession; readonly maxTimeMS: number },
    ) => Promise<Result>,
  ): Promise<Result> {
    return this.store.run(async (database, maxTimeMS) => {
      const session = database.client.startSession({ causalConsistency: true });
      const { operationTime, clusterTime } = this.last;
      if (operationTime) session.advanceOperationTime(operationTime);
      if (clusterTime) session.advanceClusterTime(clusterTime);
      try {
        return await operation(database, { session, maxTimeMS });
      } finally {
        this.last = session;
        await session.endSession();
      }
    });
  }
}
