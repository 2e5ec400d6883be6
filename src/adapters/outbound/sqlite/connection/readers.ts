import { availableParallelism } from 'node:os';
import { pathToFileURL } from 'node:url';
import type Database from 'libsql';
import AsyncDatabase from 'libsql/promise';
import type { PoolFigures } from '../../../../application/ports/store.js';
import { queryTooExpensive, unavailable } from '../../../../domain/errors.js';
import { FairSemaphore, type SemaphoreLimits } from '../../../../shared/fair-semaphore.js';
import type { MaybePromise } from '../../../../shared/promises.js';
import { BACKGROUND, type Task } from '../../../../shared/task-scheduler.js';
import { MAX_CHARACTERS, MAX_STATEMENTS, type Reader, type RowReader, type Sql, StatementCache } from './connection.js';
import { requireFile } from './files.js';

const closedError = () => unavailable('The store is not open.');

/** Connections for long reads, of which each client gets a part. */
export abstract class ReaderPool<Connection> {
  protected readonly idle: Connection[] = [];
  protected isClosed = false;
  private readonly permits: FairSemaphore;
  private readonly reads = new Set<Promise<unknown>>();

  constructor(
    private readonly pool: string,
    private readonly limits: Required<Pick<SemaphoreLimits, 'total' | 'perClient' | 'reserve'>>,
  ) {
    this.permits = new FairSemaphore({ ...limits, maxWaiting: 200, patienceMs: 5_000 });
  }

  get figures(): PoolFigures {
    const { inUse: used, waiting, refused: timeouts } = this.permits.figures;
    const { pool, limits } = this;
    return { pool, used, idle: this.idle.length, max: limits.total + limits.reserve, waiting, timeouts };
  }

  /** @throws AppError `unavailable` if too many others read, or the pool is closed */
  protected async permitted<Result>(task: Task, read: () => Promise<Result>): Promise<Result> {
    const permit = await this.permits.acquire(task.client);
    if (!permit) throw unavailable('Too many queries run that no index serves. Try again later.');
    const running = (this.isClosed ? Promise.reject(closedError()) : read()).finally(() => {
      permit.release();
      this.reads.delete(running);
    });
    this.reads.add(running);
    return running;
  }

  /** Lets no read begin. Resolves when those that run have ended and every connection is closed. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const connection of this.idle.splice(0)) this.end(connection);
    await Promise.allSettled(this.reads);
  }

  protected abstract end(connection: Connection): void;
}

/** Runs long reads, each in a read transaction on its own connection. It sees the database as it was at its begin. */
export class Snapshots extends ReaderPool<StatementCache> {
  constructor(private readonly connect: () => Promise<Database.Database>) {
    super('readers', { total: 8, perClient: 2, reserve: 8 });
  }

  read<Result>(work: (reader: Reader) => Promise<Result>, task = BACKGROUND): Promise<Result> {
    return this.permitted(task, async () => {
      const reader = this.idle.pop() ?? new StatementCache(await this.connect());
      const { connection } = reader;
      try {
        connection.exec('PRAGMA query_only = ON; BEGIN');
        return await work(reader);
      } finally {
        if (connection.inTransaction) connection.exec('ROLLBACK');
        if (this.isClosed) this.end(reader);
        else this.idle.push(reader);
      }
    });
  }

  protected end({ connection }: StatementCache): void {
    connection.close();
  }
}

/**
 * The threads on which the driver runs statements: those of its Tokio runtime, which nothing else uses. The driver alone
 * would start one for each core, but counts the quota of a container in another way than Node.js.
 */
export const DRIVER_THREADS = Math.max(2, availableParallelism());
// The driver reads it when it opens its first database.
process.env['TOKIO_WORKER_THREADS'] = String(DRIVER_THREADS);

/** SQLite ignores an interrupt before a statement has begun, so it is sent again after this time. */
const INTERRUPT_MS = 5;
const TICK_MS = 50;

/** A prepared statement whose rows are arrays. */
export interface AsyncStatement {
  raw(): AsyncStatement;
  all(values: readonly unknown[]): Promise<unknown[][]>;
}

/** A connection whose statements run on a thread of the driver. */
export interface AsyncConnection {
  prepare(sql: string): Promise<AsyncStatement>;
  exec(sql: string): Promise<void>;
  /** Waits for `exec` and `prepare`. Aborts the process if the connection is closed. */
  interrupt(): void;
  /** The connection must be idle. The driver closes it when no statement of it is left. */
  close(): void;
}

/**
 * Opens an existing file.
 * @throws AppError `unavailable`; StoreConfigError if it is no file
 */
export function connectAsync(file: string): AsyncConnection {
  requireFile(file);
  try {
    return new AsyncDatabase(`${pathToFileURL(file).href}?mode=rw`, {});
  } catch (error) {
    throw unavailable(`The file ${file} cannot be opened.`, error);
  }
}

/**
 * Returns the first row of a statement, whose other rows would be read in the serving thread.
 * @param signal ends the statement
 * @throws the reason of the signal
 */
export async function firstRow(
  connection: AsyncConnection,
  statement: AsyncStatement,
  values: readonly unknown[],
  signal: AbortSignal,
): Promise<unknown[] | undefined> {
  signal.throwIfAborted();
  let again: NodeJS.Timeout | undefined;
  const end = () => {
    connection.interrupt();
    again = setInterval(() => connection.interrupt(), INTERRUPT_MS);
  };
  signal.addEventListener('abort', end);
  try {
    const [row] = await statement.all(values);
    return row;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    clearInterval(again);
    signal.removeEventListener('abort', end);
  }
}

/**
 * Runs a statement that takes long on another thread, so that signals are heard meanwhile.
 * @param file an absolute path of a database that nobody else uses
 * @param sql returns one text
 * @param tick called again and again meanwhile; an error that it throws ends the statement
 * @throws what `tick` throws
 */
export async function runOnThread(file: string, sql: string, tick: () => void): Promise<string> {
  const connection = connectAsync(file);
  const ending = new AbortController();
  const ticks = setInterval(() => {
    try {
      tick();
    } catch (error) {
      ending.abort(error);
    }
  }, TICK_MS);
  try {
    const statement = (await connection.prepare(sql)).raw();
    const [text] = (await firstRow(connection, statement, [], ending.signal)) as [string];
    return text;
  } finally {
    clearInterval(ticks);
    connection.close();
  }
}

/** A snapshot of the database whose statements run on another thread, one after the other. */
export interface ThreadReader extends RowReader {
  row<Row extends unknown[]>(sql: Sql): Promise<Row | undefined>;
}

/**
 * Runs statements on the threads of the driver, so that they neither stop the event loop nor outlast their time. Those
 * threads belong to the driver alone, so files, DNS and cryptography of Node.js go on.
 */
export class ReaderThreads extends ReaderPool<ReaderConnection> {
  private readonly snapshots = new Set<ThreadSnapshot>();

  /** @param connect opens another connection to the same files */
  constructor(
    private readonly connect: () => MaybePromise<AsyncConnection>,
    cores = availableParallelism(),
  ) {
    // Together at most `DRIVER_THREADS`: another statement could not begin before one ends.
    super('threads', { total: Math.max(1, cores - 1), perClient: cores < 4 ? 1 : 2, reserve: 1 });
  }

  /**
   * Runs `work` with a reader that sees the database as it is now.
   * @param timeoutMs the time of the whole work, without the wait for a thread; no limit if the turn may take long
   * @throws AppError `query_too_expensive` if a statement runs, or starts, after that time; `unavailable` if too many wait
   */
  read<Result>(work: (reader: ThreadReader) => Promise<Result>, task: Task, timeoutMs: number): Promise<Result> {
    return this.permitted(task, () => this.run(work, task.mayTakeLong ? Number.POSITIVE_INFINITY : timeoutMs));
  }

  /** Ends what runs. */
  override async close(): Promise<void> {
    for (const snapshot of this.snapshots) snapshot.stop(closedError());
    await super.close();
  }

  protected end({ connection }: ReaderConnection): void {
    connection.close();
  }

  private async run<Result>(work: (reader: ThreadReader) => Promise<Result>, timeoutMs: number): Promise<Result> {
    const reader = this.idle.pop() ?? new ReaderConnection(await this.connect());
    const snapshot = new ThreadSnapshot(reader);
    this.snapshots.add(snapshot);
    if (this.isClosed) snapshot.stop(closedError());
    const limit = Number.isFinite(timeoutMs)
      ? setTimeout(() => snapshot.stop(queryTooExpensive()), timeoutMs)
      : undefined;
    try {
      // The last statement reads, and SQLite takes the snapshot.
      await reader.connection.exec('PRAGMA query_only = ON; BEGIN; PRAGMA user_version');
      return await work(snapshot);
    } finally {
      clearTimeout(limit);
      await snapshot.stop(unavailable('The snapshot has ended.'));
      this.snapshots.delete(snapshot);
      await this.release(reader);
    }
  }

  private async release(reader: ReaderConnection): Promise<void> {
    const isUsable = await reader.connection.exec('ROLLBACK').then(
      () => true,
      () => false,
    );
    if (isUsable && !this.isClosed && !reader.isFull) this.idle.push(reader);
    else this.end(reader);
  }
}

/**
 * A connection that keeps every statement while it is open; one with many is replaced. The garbage collector finalizes
 * a dropped statement in the serving thread, which then waits until the one that runs on the connection ends.
 */
class ReaderConnection {
  private readonly statements = new Map<string, AsyncStatement>();
  private characters = 0;

  constructor(readonly connection: AsyncConnection) {}

  get isFull(): boolean {
    return this.statements.size >= MAX_STATEMENTS || this.characters >= MAX_CHARACTERS;
  }

  async statement(text: string): Promise<AsyncStatement> {
    const existing = this.statements.get(text);
    if (existing) return existing;
    const statement = (await this.connection.prepare(text)).raw();
    this.statements.set(text, statement);
    this.characters += text.length;
    return statement;
  }
}

class ThreadSnapshot implements ThreadReader {
  private readonly ending = new AbortController();
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly reader: ReaderConnection) {}

  row<Row extends unknown[]>(sql: Sql): Promise<Row | undefined> {
    const row = this.last.then(() => this.run(sql));
    this.last = row.catch(() => {});
    return row as Promise<Row | undefined>;
  }

  /** Lets no statement run on, and none start: it throws `reason`. Resolves when the connection is idle. */
  async stop(reason: Error): Promise<void> {
    this.ending.abort(reason);
    await this.last;
  }

  private async run({ text, values }: Sql): Promise<unknown[] | undefined> {
    const { signal } = this.ending;
    signal.throwIfAborted();
    const statement = await this.reader.statement(text);
    return firstRow(this.reader.connection, statement, values, signal);
  }
}
