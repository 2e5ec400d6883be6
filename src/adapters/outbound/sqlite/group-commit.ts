import { setTimeout as sleep } from 'node:timers/promises';
import type Database from 'libsql';
import { CatalogueError } from '../../../domain/errors.js';
import { nextTurn } from '../../../shared/event-loop.js';
import type { OpenFiles } from './open-files.js';
import { isBusy, toCoreError } from './sqlite-errors.js';

/** How long a write waits for another process to let go of the file. */
const PATIENCE_MS = 1_500;
const RETRY_MS = 5;
/** Writes of so many rows share a commit at most: some milliseconds, in which the thread does nothing else. */
const MAX_ROWS = 256;

interface Write {
  readonly rows: number;
  run(): void;
  fail(error: unknown): void;
  done(): void;
}

/**
 * Writes that arrive together share one commit, hence one wait for the disk; each is answered after it. The thread
 * never sleeps on another process's lock: it tries again later.
 */
export class GroupCommit {
  private pending: Write[] = [];
  private draining: Promise<void> | undefined;

  /** @param files what the connection has open; nothing is acknowledged that they do not hold */
  constructor(
    private readonly connection: Database.Database,
    private readonly files: Pick<OpenFiles, 'verify'>,
  ) {}

  /**
   * @param work runs inside the shared transaction. A CatalogueError that it throws before it has written anything is
   *   its own affair; any other error undoes the whole batch.
   * @param rows how many it writes, about
   */
  write<Result>(work: () => Result, rows = 1): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      let result: Result;
      this.pending.push({
        rows,
        run: () => {
          result = work();
        },
        fail: (error) => reject(toCoreError(error)),
        done: () => resolve(result),
      });
      this.draining ??= this.drain();
    });
  }

  /** Resolves when nothing is left to write. */
  async idle(): Promise<void> {
    await this.draining;
  }

  private async drain(): Promise<void> {
    while (this.pending.length > 0) {
      // Whatever the sockets brought in this turn has been queued by then.
      await nextTurn();
      const batch = this.nextBatch();
      try {
        for (const write of await this.commit(batch)) write.done();
      } catch (error) {
        // Who queued behind a lock that was waited for in vain has waited for it too.
        const behind = isBusy(error) ? this.pending.splice(0) : [];
        for (const write of [...batch, ...behind]) write.fail(error);
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

  /** @returns the writes that were committed; the others were told why not */
  private async commit(batch: readonly Write[]): Promise<readonly Write[]> {
    this.files.verify();
    await this.begin();
    try {
      const refused: [Write, unknown][] = [];
      const done = batch.filter((write) => {
        try {
          write.run();
          return true;
        } catch (error) {
          if (!(error instanceof CatalogueError)) throw error;
          refused.push([write, error]);
          return false;
        }
      });
      this.connection.exec('COMMIT');
      // Once more: they may have gone between the first look and the commit.
      this.files.verify();
      for (const [write, error] of refused) write.fail(error);
      return done;
    } catch (error) {
      if (this.connection.inTransaction) this.connection.exec('ROLLBACK');
      throw error;
    }
  }

  private async begin(): Promise<void> {
    for (let waited = 0; ; waited += RETRY_MS) {
      try {
        this.connection.exec('BEGIN IMMEDIATE');
        return;
      } catch (error) {
        if (!isBusy(error) || waited >= PATIENCE_MS) throw error;
        await sleep(RETRY_MS);
      }
    }
  }
}
