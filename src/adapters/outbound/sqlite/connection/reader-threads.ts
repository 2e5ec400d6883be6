import { availableParallelism } from 'node:os';
import { queryTooExpensive, unavailable } from '../../../../domain/errors.js';
import type { MaybePromise } from '../../../../shared/promises.js';
import type { Task } from '../../../../shared/task-scheduler.js';
import { type AsyncConnection, type AsyncStatement, firstRow } from './async-connection.js';
import { MAX_CHARACTERS, MAX_STATEMENTS, type RowReader, type Sql } from './connection.js';
import { ReaderPool } from './reader-pool.js';

const closedError = () => unavailable('The store is not open.');

/** A snapshot of the database whose statements run on another thread, one after the other. */
export interface ThreadReader extends RowReader {
  row<Row extends unknown[]>(sql: Sql): Promise<Row | undefined>;
}

/**
 * Runs statements on the threads of the driver, so that they neither stop the event loop nor outlast their time. Those
 * threads belong to the driver alone, so files, DNS and cryptography of Node.js go on.
 */
export class ReaderThreads extends ReaderPool<ReaderConnection> {
  private readonly reads = new Set<Promise<unknown>>();
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
  read<Result>(
    work: (reader: ThreadReader) => Promise<Result>,
    task: Task,
    timeoutMs: number,
  ): Promise<Result> {
    return this.permitted(task, async () => {
      const read = this.run(work, task.mayTakeLong ? Number.POSITIVE_INFINITY : timeoutMs);
      this.reads.add(read);
      return read.finally(() => this.reads.delete(read));
    });
  }

  /** Ends what runs. Resolves when every connection is closed. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const snapshot of this.snapshots) snapshot.stop(closedError());
    for (const { connection } of this.idle.splice(0)) connection.close();
    await Promise.allSettled(this.reads);
  }

  private async run<Result>(
    work: (reader: ThreadReader) => Promise<Result>,
    timeoutMs: number,
  ): Promise<Result> {
    if (this.isClosed) throw closedError();
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
    else reader.connection.close();
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
