import { setTimeout as sleep } from 'node:timers/promises';
import type Database from 'libsql';
import type { PoolFigures } from '../../../../application/ports/store.js';
import { AppError } from '../../../../domain/errors.js';
import { type MaybePromise, yieldToEventLoop } from '../../../../shared/promises.js';
import { isBusy, rowsOf } from './connection.js';
import type { OpenFiles } from './files.js';

const PATIENCE_MS = 1_500;
const RETRY_MS = 5;
/** The most rows that share a commit: some milliseconds in which the thread does nothing else. */
export const MAX_ROWS = 256;
/**
 * The turns of the event loop that other work has after a commit of more rows. A request takes some turns; without them
 * it would wait for a large commit in each.
 */
const TURNS_AFTER_LARGE = 10;

interface Write {
  readonly rows: number;
  /** @returns what acknowledges the write */
  run(): () => void;
  fail(error: unknown): void;
}

/**
 * Commits the writes of one event-loop turn together, so that they share one wait for the disk. A write resolves
 * after the commit. The thread never blocks on the lock of another process: it tries again later.
 */
export class GroupCommit {
  private pending: Write[] = [];
  private draining: Promise<void> | undefined;
  private timeouts = 0;

  /**
   * @param files the files of the connection; a write that is not in them is not acknowledged
   * @param events `begun`: in each shared transaction, before its writes; an error that it throws rejects them all.
   *   `committed`: after it, with the number of its rows, outside of a transaction; the next write waits for it
   * @param patienceMs how long a write waits until another process releases its lock
   */
  constructor(
    private readonly connection: Database.Database,
    private readonly files: Pick<OpenFiles, 'verify'>,
    private readonly events: {
      begun?(): void;
      committed?(rows: number): Promise<void>;
    } = {},
    private readonly patienceMs = PATIENCE_MS,
  ) {}

  /**
   * @param work runs inside the shared transaction. An AppError that it throws before its first write rejects this
   *   write alone. Any other error rolls the whole batch back
   * @param rows approximately the number of rows that it writes
   */
  write<Result>(work: () => Result, rows = 1): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const run = () => {
        const result = work();
        return () => resolve(result);
      };
      this.pending.push({ rows, run, fail: reject });
      this.draining ??= this.drain();
    });
  }

  /**
   * Runs work in a transaction of its own: long work only before the first {@link write}. Work that returns no promise is
   * committed at once, before anybody could read on this connection what may not last.
   * @param patienceMs how long it waits until another process releases its lock
   */
  async alone<Result>(work: () => MaybePromise<Result>, patienceMs = this.patienceMs): Promise<Result> {
    this.files.verify();
    await this.begin(patienceMs);
    try {
      const pending = work();
      const result = pending instanceof Promise ? await pending : pending;
      this.connection.exec('COMMIT');
      // Once more: the files may have been deleted between the first check and the commit.
      this.files.verify();
      return result;
    } catch (error) {
      if (this.connection.inTransaction) this.connection.exec('ROLLBACK');
      throw error;
    }
  }

  /** The connection that writes, as a pool of one. */
  get figures(): PoolFigures {
    const used = this.draining ? 1 : 0;
    const { length: waiting } = this.pending;
    return { pool: 'writer', used, idle: 1 - used, max: 1, waiting, timeouts: this.timeouts };
  }

  /** Resolves when no write is pending. */
  async idle(): Promise<void> {
    await this.draining;
  }

  private async drain(): Promise<void> {
    let turns = 1;
    while (this.pending.length > 0) {
      // After this, all requests that arrived in this turn have queued their writes.
      for (; turns > 0; turns--) await yieldToEventLoop();
      const batch = this.nextBatch();
      turns = batch.some(({ rows }) => rows > MAX_ROWS) ? TURNS_AFTER_LARGE : 1;
      try {
        for (const acknowledge of await this.commit(batch)) acknowledge();
        await this.events.committed?.(batch.reduce((sum, { rows }) => sum + rows, 0));
      } catch (error) {
        // Writes that queued meanwhile have waited for the same lock.
        if (isBusy(error)) this.timeouts++;
        const waiting = isBusy(error) ? this.pending.splice(0) : [];
        for (const write of [...batch, ...waiting]) write.fail(error);
      }
    }
    this.draining = undefined;
  }

  private nextBatch(): Write[] {
    let rows = 0;
    const end = this.pending.findIndex((write, at) => {
      rows += write.rows;
      return at > 0 && rows > MAX_ROWS;
    });
    return this.pending.splice(0, end < 0 ? this.pending.length : end);
  }

  /** @returns what acknowledges or rejects each write */
  private commit(batch: readonly Write[]): Promise<(() => void)[]> {
    return this.alone(() => {
      this.events.begun?.();
      return batch.map((write) => {
        try {
          return write.run();
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          return () => write.fail(error);
        }
      });
    });
  }

  private async begin(patienceMs: number): Promise<void> {
    const end = performance.now() + patienceMs;
    for (;;) {
      try {
        this.connection.exec('BEGIN IMMEDIATE');
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() >= end) throw error;
        await sleep(RETRY_MS);
      }
    }
  }
}

/** The pages that the log should have at a checkpoint: 4 MiB. */
const PAGES = 1_000;
/** The bounds of the rows between two checkpoints. */
const LEAST_ROWS = 16;
const MOST_ROWS = 1_024;

/** Whether a reader was in the way, the pages of the log, and those that were copied. */
type CheckpointRow = [isBusy: number, pages: number, copied: number];

/**
 * Copies the write-ahead log into the database from time to time, so that the log starts anew. No write of any process
 * runs meanwhile: the writer holds the lock of the database, and another connection copies. While searches overlap
 * without a pause, each reading an older state, SQLite cannot start the log anew, and it grows.
 *
 * SQLite copies by itself after a commit, but without the lock. SQLite before 3.51.3 then loses acknowledged writes if
 * another process starts the log anew at a certain moment of the copy (https://sqlite.org/wal.html, "The WAL-Reset
 * Bug"). So `connect` turns that off. What SQLite copies when the last connection closes is safe: no other process has
 * the database open.
 */
export class LogCheckpoints {
  private rows = 0;
  private rowsBetween = 64;
  private copier: Database.Database | undefined;
  private isFailing = false;

  /**
   * @param connect opens another connection to the same files
   * @param failed gets the error of the first checkpoint in a row that fails for another reason than a lock
   */
  constructor(
    private readonly writer: Database.Database,
    private readonly connect: () => MaybePromise<Database.Database>,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Call after each commit. @param rows approximately the number of rows that it wrote */
  async committed(rows: number): Promise<void> {
    this.rows += rows;
    if (this.rows < this.rowsBetween) return;
    // The clients of the commit get their responses first.
    await yieldToEventLoop();
    await this.copy();
  }

  close(): void {
    this.copier?.close();
  }

  /** After a failure the log still has everything, and the next commit tries again. */
  private async copy(): Promise<void> {
    try {
      this.copier ??= await this.connect();
      // It synchronises the log before it copies, and the database before the log may start anew.
      this.copier.pragma('synchronous = FULL');
      this.writer.exec('BEGIN IMMEDIATE');
      const [row] = rowsOf<CheckpointRow>(this.copier, 'PRAGMA wal_checkpoint(PASSIVE)');
      this.adapt(row?.[1] ?? 0);
      this.isFailing = false;
    } catch (error) {
      if (isBusy(error)) return;
      if (!this.isFailing) this.failed(error);
      this.isFailing = true;
    } finally {
      if (this.writer.inTransaction) this.writer.exec('ROLLBACK');
    }
  }

  /** A row may need one page or many, and other processes write as well. */
  private adapt(pages: number): void {
    this.rows = 0;
    if (pages > 2 * PAGES) this.rowsBetween = Math.max(LEAST_ROWS, this.rowsBetween / 2);
    else if (pages < PAGES) this.rowsBetween = Math.min(MOST_ROWS, this.rowsBetween * 2);
  }
}
