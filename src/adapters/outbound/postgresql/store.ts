/**
 * How the parts of this folder use the server.
 *
 * - `store.run(statement, values)`: a short operation on the pool of 10. The server ends it after 1.5 s, and its caller
 *   waits at most 2 s from the call on.
 * - `store.search(statement, values, turn)`: a query that reads many rows, on the pool of 4. The server ends it when
 *   the time of a query is over: AppError `query_too_expensive`. Clients take turns.
 * - Both return rows as arrays, `bigint` as number; errors are AppErrors, but for definite errors of the server.
 * - `prepared(text)` names a statement of a fixed text, which the server then parses once for each connection, if
 *   connections are sessions. Make it once: there may be 200. A statement whose text depends on a client is `{ text }`.
 * - No part depends on what an earlier statement has left in a session: PgBouncer in transaction mode may give each
 *   statement another one.
 */
import pg from 'pg';
import { ServerCalls } from '../../../application/maintenance/server-calls.js';
import type { Logger } from '../../../application/ports/logger.js';
import type { PoolFigures, Store } from '../../../application/ports/store.js';
import type { QueryBudget } from '../../../application/records/lists.js';
import { unavailable } from '../../../domain/errors.js';
import type { Task } from '../../../shared/task-scheduler.js';
import { CLEAR_TEXT, type PostgresqlConnection, parseUrl, ROUND_TRIP_MS } from './connection.js';
import { isPoolTimeout, isTooExpensive, isUsableAfter, signOf, translateError } from './errors.js';
import { alter, prepareSchema, type Run, withClient } from './schema.js';

/** The operations of calls on many records that may run at the same time. */
const BATCHES = 3;

/** The text of a statement; with a name if it is fixed. */
export interface Statement {
  readonly text: string;
  readonly name?: string;
}

let names = 0;

/** Names a statement, for all connections of the process. */
export function prepared(text: string): Statement {
  return { text, name: `s${++names}` };
}

/** The values of a statement, and the rows that it returns. */
type Values = readonly unknown[];
type Row = readonly unknown[];

export interface PostgresqlStoreOptions {
  /** Is warned of a connection in clear text. */
  readonly logger?: Pick<Logger, 'warn'> | undefined;
  /** As of {@link parseUrl}. */
  readonly hasSessions?: boolean | undefined;
}

/** A PostgreSQL server, version 15 or later. A write is acknowledged when it is in the journal on disk. */
export class PostgresqlStore implements Store {
  readonly location: string;
  private readonly connection: PostgresqlConnection;
  private readonly operations: ConnectionPool;
  private readonly searchPool: ConnectionPool;
  readonly calls: ServerCalls;
  /** How long a caller waits for an operation. */
  readonly operationMs: number;
  private readonly logger: Pick<Logger, 'warn'> | undefined;
  private closed = false;

  /**
   * @throws StoreConfigError; no message contains a value of the URL
   */
  constructor(
    url: string,
    readonly budget: QueryBudget,
    { logger, hasSessions = true }: PostgresqlStoreOptions = {},
  ) {
    this.logger = logger;
    this.connection = parseUrl(url, budget.timeoutMs, hasSessions);
    const { client, location, operations, operationMs, searches } = this.connection;
    this.location = location;
    this.operations = new ConnectionPool('postgresql', operations, hasSessions);
    this.searchPool = new ConnectionPool('postgresql searches', searches, hasSessions);
    this.operationMs = operationMs + ROUND_TRIP_MS;
    this.calls = new ServerCalls({
      breaker: {
        silenceMs: operationMs,
        probe: () => withClient(client, (connected) => connected.query('SELECT 1')),
        translate: translateError,
        signOf,
        now: () => performance.now(),
      },
      quota: {
        searches: searches.max ?? 1,
        searchPatienceMs: this.operationMs,
        batches: BATCHES,
        batchPatienceMs: this.operationMs,
      },
      operationMs: this.operationMs,
      searchMs: budget.timeoutMs + ROUND_TRIP_MS,
      isTooExpensive,
    });
  }

  /** Makes the schema current, so any number of processes may start at once. */
  async open(): Promise<void> {
    if (this.closed) throw unavailable('The store is closed.');
    await prepareSchema(this.connection);
    if (!this.calls.isOpen && this.connection.isUnprotected) this.logger?.warn(CLEAR_TEXT);
    this.calls.isOpen = true;
  }

  /** Changes the schema as a step does. @throws AppError `unavailable`, StoreConfigError */
  async alter(change: (run: Run) => Promise<void>): Promise<void> {
    await withClient(this.connection.client, (client) => alter(client, change));
  }

  async ping(): Promise<void> {
    await this.run({ text: 'SELECT 1' }, []);
  }

  pools(): readonly PoolFigures[] {
    return [this.operations.figures, this.searchPool.figures];
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.calls.breaker.close();
    await Promise.all([this.operations.close(), this.searchPool.close()]);
  }

  /** @throws as {@link ServerCalls.run} */
  run<Result extends Row>(statement: Statement, values: Values): Promise<Result[]> {
    return this.calls.run(() => this.operations.run<Result>(statement, values));
  }

  /** @throws as {@link ServerCalls.search} */
  search<Result extends Row>(statement: Statement, values: Values, task?: Task): Promise<Result[]> {
    return this.calls.search(() => this.searchPool.run<Result>(statement, values), task);
  }
}

/** Connections to one server. Its errors are those of the driver. */
class ConnectionPool {
  private readonly pool: pg.Pool;
  private timeouts = 0;

  constructor(
    private readonly name: string,
    config: pg.PoolConfig,
    private readonly hasSessions: boolean,
  ) {
    this.pool = new pg.Pool(config);
    // A connection that ends emits this also while a statement runs on it. Without a listener, the process would end.
    this.pool.on('connect', (client) => client.on('error', () => {}));
    this.pool.on('error', () => {});
  }

  get figures(): PoolFigures {
    const { totalCount, idleCount: idle, waitingCount: waiting, options } = this.pool;
    return {
      pool: this.name,
      used: totalCount - idle,
      idle,
      max: options.max,
      waiting,
      timeouts: this.timeouts,
    };
  }

  async run<Result extends Row>({ text, name }: Statement, values: Values): Promise<Result[]> {
    const client = await this.connect();
    try {
      const query: pg.QueryArrayConfig = {
        text,
        ...(name !== undefined && this.hasSessions && { name }),
        values: values as unknown[],
        rowMode: 'array',
      };
      const { rows } = await client.query<Result & unknown[]>(query);
      client.release();
      return rows;
    } catch (error) {
      client.release(!isUsableAfter(error));
      throw error;
    }
  }

  close(): Promise<void> {
    return this.pool.end();
  }

  private async connect(): Promise<pg.PoolClient> {
    try {
      return await this.pool.connect();
    } catch (error) {
      if (isPoolTimeout(error)) this.timeouts++;
      throw error;
    }
  }
}
