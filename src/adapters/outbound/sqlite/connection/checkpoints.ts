import type Database from 'libsql';
import { yieldToEventLoop } from '../../../../shared/promises.js';
import { rowsOf } from './connection.js';
import { isBusy } from './errors.js';

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
    private readonly connect: () => Database.Database,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Call after each commit. @param rows approximately the number of rows that it wrote */
  async committed(rows: number): Promise<void> {
    this.rows += rows;
    if (this.rows < this.rowsBetween) return;
    // The clients of the commit get their responses first.
    await yieldToEventLoop();
    this.copy();
  }

  close(): void {
    this.copier?.close();
  }

  /** After a failure the log still has everything, and the next commit tries again. */
  private copy(): void {
    try {
      this.copier ??= this.connectCopier();
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

  private connectCopier(): Database.Database {
    const copier = this.connect();
    // It synchronises the log before it copies, and the database before the log may start anew.
    copier.pragma('synchronous = FULL');
    return copier;
  }

  /** A row may need one page or many, and other processes write as well. */
  private adapt(pages: number): void {
    this.rows = 0;
    if (pages > 2 * PAGES) this.rowsBetween = Math.max(LEAST_ROWS, this.rowsBetween / 2);
    else if (pages < PAGES) this.rowsBetween = Math.min(MOST_ROWS, this.rowsBetween * 2);
  }
}
