import type Database from 'libsql';
import type { PoolFigures } from '../../../../application/ports/store.js';
import { unavailable } from '../../../../domain/errors.js';
import { FairSemaphore } from '../../../../shared/fair-semaphore.js';
import { SERVICE_TURN } from '../../../../shared/turn.js';
import { type Reader, StatementCache } from './connection.js';
import { translateError } from './errors.js';

/** The limits of long reads that run or wait at the same time. */
const LIMITS = { total: 8, perClient: 2, reserve: 8, maxWaiting: 200, patienceMs: 5_000 };

interface Snapshot {
  readonly connection: Database.Database;
  readonly reader: Reader;
}

/** Runs long reads, each in a read transaction on its own connection. It sees the database as it was at its begin. */
export class Snapshots {
  private readonly permits = new FairSemaphore(LIMITS);
  private idle: Snapshot[] = [];
  private isClosed = false;

  constructor(private readonly connect: () => Database.Database) {}

  /** @throws AppError `unavailable` if too many others read */
  async read<Result>(work: (reader: Reader) => Promise<Result>, turn = SERVICE_TURN): Promise<Result> {
    const permit = await this.permits.acquire(turn.client);
    if (!permit) throw unavailable('Too many queries run that no index serves. Try again later.');
    let snapshot: Snapshot | undefined;
    try {
      snapshot = this.idle.pop() ?? this.open();
      snapshot.connection.exec('BEGIN');
      return await work(snapshot.reader);
    } catch (error) {
      throw translateError(error);
    } finally {
      permit.release();
      if (snapshot) this.end(snapshot);
    }
  }

  get figures(): PoolFigures {
    const { inUse, waiting, refused } = this.permits.figures;
    const idle = this.idle.length;
    return {
      pool: 'readers',
      used: inUse,
      idle,
      max: LIMITS.total + LIMITS.reserve,
      waiting,
      timeouts: refused,
    };
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
