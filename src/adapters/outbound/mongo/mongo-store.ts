import { type Db, MongoClient, type MongoClientOptions, MongoParseError } from 'mongodb';
import { type Store, UnusableStore } from '../../../application/ports/store.js';
import type { QueryBudget } from '../../../application/query-budget.js';
import { queryTooExpensive, unavailable } from '../../../domain/errors.js';
import { FairShares, type Share } from '../../../shared/fair-shares.js';
import { requireSnapshots } from './mongo-deployment.js';
import { isTooExpensive, toCoreError } from './mongo-errors.js';
import { onStuckHeartbeat } from './mongo-heartbeats.js';
import { IndexPreparation } from './mongo-index-preparation.js';
import { byCollection, type CollectionIndexes } from './mongo-indexes.js';
import { connectionOf } from './mongo-options.js';

/** For the way of a query and its answer, beside the time that the server may take for it. */
const JOURNEY_MS = 500;

/** Of the connections, the part that queries without an index may hold at the same time. */
const SEARCHING_PART = 1 / 4;

/** Behind each of them; more would wait for a turn that comes too late, if a query takes a tenth of their patience. */
const WAITING_FOR_EACH = 10;

/** How long one call of `open` waits at least for the indexes. */
const INDEXES_MS = 5_000;

/**
 * A MongoDB replica set, if only of one member, or a cluster of them behind mongos, of MongoDB 5.0 or later: reads from
 * one moment and writes that the driver may send again need it. A write is acknowledged when a majority has it in the
 * journal.
 */
export class MongoStore implements Store {
  readonly location: string;
  /** So long a caller waits for one operation, in milliseconds, whatever the driver still tries behind its back. */
  readonly operationMs: number;
  private readonly connect: (over?: MongoClientOptions) => MongoClient;
  private client: MongoClient;
  private hasFailed = false;
  private readonly indexes: IndexPreparation;
  private readonly searches: FairShares;
  private readonly database: string;
  private closed = false;

  /**
   * @param url as {@link connectionOf} has it
   * @throws UnusableStore where the URL is none, or weakens what the service promises; its message holds no value of it
   */
  constructor(
    url: string,
    indexes: readonly CollectionIndexes[],
    readonly budget: QueryBudget,
  ) {
    const { options, hosts, database, operationMs } = connectionOf(url, budget.timeoutMs + JOURNEY_MS);
    this.connect = (over) => new MongoClient(url, { ...options, ...over });
    this.client = this.firstClient();
    this.operationMs = operationMs;
    const { maxPoolSize, waitQueueTimeoutMS } = this.client.options;
    // 0 is the driver's word for no bound.
    const slots = Math.max(1, Math.floor((maxPoolSize || Number.POSITIVE_INFINITY) * SEARCHING_PART));
    const patienceMs = waitQueueTimeoutMS || this.operationMs;
    const perClient = Math.max(1, Math.floor(slots / 2));
    this.searches = new FairShares({
      total: slots,
      perClient,
      maxWaiting: slots * WAITING_FOR_EACH,
      patienceMs,
    });
    this.database = database;
    const alone = { socketTimeoutMS: 0, minPoolSize: 0, maxPoolSize: 1 };
    this.indexes = new IndexPreparation(() => this.connect(alone), database, byCollection(indexes));
    this.location = `MongoDB at ${hosts}, database ${database}`;
  }

  private firstClient(): MongoClient {
    try {
      return this.watchedClient();
    } catch (error) {
      const reason =
        error instanceof MongoParseError
          ? 'is not a MongoDB connection string'
          : 'has options that do not fit';
      throw new UnusableStore(`MONGODB_URL ${reason}; see the driver's manual.`, { cause: error });
    }
  }

  private watchedClient(): MongoClient {
    const client = this.connect();
    onStuckHeartbeat(client, () => {
      if (this.closed || client !== this.client) return;
      this.client = this.watchedClient();
      // What still runs there fails; whether the client closes well concerns nobody.
      client.close().catch(() => {});
    });
    return client;
  }

  /**
   * Makes the indexes; those that are there already stay, so that any number of processes may start at once.
   * @throws UnusableStore where the server, or an index in it, is not what this store needs
   */
  async open(): Promise<void> {
    // A client whose first connection failed never makes another.
    if (this.hasFailed) {
      await this.client.close();
      this.client = this.watchedClient();
    }
    this.hasFailed = true;
    requireSnapshots(await this.run((database) => database.command({ hello: 1 })));
    const waitMs = Math.max(this.operationMs, INDEXES_MS);
    await this.within(waitMs, this.indexes.done(), 'The indexes are still being made.');
    this.hasFailed = false;
  }

  async ping(): Promise<void> {
    await this.run((database) => database.command({ ping: 1 }));
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.indexes.close();
    await this.client.close();
  }

  /**
   * Runs one operation. Where it is not done in time its outcome is unknown.
   * @param operation hands `maxTimeMS` on to the server, writes too
   *   (https://www.mongodb.com/docs/manual/reference/command/insert/), so that none is done long after its caller left
   */
  run<Result>(operation: (database: Db, maxTimeMS: number) => Promise<Result>): Promise<Result> {
    return this.within(
      this.operationMs,
      this.begin((database) => operation(database, this.operationMs)),
    );
  }

  /**
   * Runs a query that may take as long as the budget has it; few at a time, so that the others find connections.
   * @param query hands `maxTimeMS` on to the server
   * @param client whose bound counts, as in {@link ListQuery}
   * @throws CatalogueError `query_too_expensive`
   */
  async search<Result>(
    query: (database: Db, maxTimeMS: number) => Promise<Result>,
    client = '',
  ): Promise<Result> {
    const share = await this.searches.take(client);
    if (!share) throw unavailable('Too many queries run that no index serves. Try again later.');
    const waitMs = Math.max(this.budget.timeoutMs + JOURNEY_MS, this.operationMs);
    return this.within(waitMs, this.searchHolding(share, query));
  }

  private async searchHolding<Result>(
    share: Share,
    query: (database: Db, maxTimeMS: number) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await this.begin((database) => query(database, this.budget.timeoutMs));
    } catch (error) {
      throw isTooExpensive(error) ? queryTooExpensive() : error;
    } finally {
      // Not before it is done, whoever still waits for it: until then it holds its connection.
      share.release();
    }
  }

  private async begin<Result>(operation: (database: Db) => Promise<Result>): Promise<Result> {
    if (this.closed) throw unavailable('The store is closed.');
    return operation(this.client.db(this.database));
  }

  private async within<Result>(
    waitMs: number,
    running: Promise<Result>,
    reason = 'The store did not answer in time.',
  ): Promise<Result> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(unavailable(reason)), waitMs);
    });
    try {
      return await Promise.race([running, late]);
    } catch (error) {
      throw toCoreError(error);
    } finally {
      clearTimeout(timer);
    }
  }
}
