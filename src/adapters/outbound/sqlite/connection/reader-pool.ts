import type Database from 'libsql';
import type { PoolFigures } from '../../../../application/ports/store.js';
import { unavailable } from '../../../../domain/errors.js';
import { FairSemaphore } from '../../../../shared/fair-semaphore.js';
import { BACKGROUND, type Task } from '../../../../shared/task-scheduler.js';
import { type Reader, StatementCache } from './connection.js';
import { translateError } from './errors.js';

/** How many long reads may run at the same time; see `SemaphoreLimits`. */
interface PoolLimits {
  readonly total: number;
  readonly perClient: number;
  readonly reserve: number;
}

/** Connections for long reads, of which each client gets a part. */
export class ReaderPool<Connection> {
  protected readonly idle: Connection[] = [];
  protected isClosed = false;
  private readonly permits: FairSemaphore;

  constructor(
    private readonly pool: string,
    private readonly limits: PoolLimits,
  ) {
    this.permits = new FairSemaphore({ ...limits, maxWaiting: 200, patienceMs: 5_000 });
  }

  get figures(): PoolFigures {
    const { inUse: used, waiting, refused: timeouts } = this.permits.figures;
    const { pool, limits } = this;
    return { pool, used, idle: this.idle.length, max: limits.total + limits.reserve, waiting, timeouts };
  }

  /** @throws AppError `unavailable` if too many others read */
  protected async permitted<Result>(task: Task, read: () => Promise<Result>): Promise<Result> {
    const permit = await this.permits.acquire(task.client);
    if (!permit) throw unavailable('Too many queries run that no index serves. Try again later.');
    try {
      return await read();
    } catch (error) {
      throw translateError(error);
    } finally {
      permit.release();
    }
  }
}

interface Snapshot {
  readonly connection: Database.Database;
  readonly reader: Reader;
}

/** Runs long reads, each in a read transaction on its own connection. It sees the database as it was at its begin. */
export class Snapshots extends ReaderPool<Snapshot> {
  constructor(private readonly connect: () => Database.Database) {
    super('readers', { total: 8, perClient: 2, reserve: 8 });
  }

  read<Result>(work: (reader: Reader) => Promise<Result>, task = BACKGROUND): Promise<Result> {
    return this.permitted(task, async () => {
      const snapshot = this.idle.pop() ?? this.open();
      try {
        snapshot.connection.exec('BEGIN');
        return await work(snapshot.reader);
      } finally {
        this.end(snapshot);
      }
    });
  }

  /** Connections in use are closed when their read ends. */
  close(): void {
    this.isClosed = true;
    for (const { connection } of this.idle.splice(0)) connection.close();
  }

  private open(): Snapshot {
    const connection = this.connect();
    connection.pragma('query_only = ON');
    return { connection, reader: new StatementCache(connection) };
  }

  private end(snapshot: Snapshot): void {
    const { connection } = snapshot;
    if (connection.inTransaction) connection.exec('ROLLBACK');
    if (this.isClosed) connection.close();
    else this.idle.push(snapshot);
  }
}
