import { resolve } from 'node:path';
import type Database from 'libsql';
import type { Journal } from '../../../application/ports/journal.js';
import { type Store, UnusableStore } from '../../../application/ports/store.js';
import { unavailable } from '../../../domain/errors.js';
import {
  checkApplication,
  connect,
  pragma,
  type Reader,
  type Statement,
  StatementCache,
} from './connection.js';
import { toCoreError } from './errors.js';
import { GroupCommit } from './group-commit.js';
import { APPLICATION_ID, MIGRATIONS } from './migrations.js';
import { identityOf, OpenFiles } from './open-files.js';
import { Snapshots } from './snapshots.js';

/** Gives the prepared statement of an SQL text. */
export type Statements = (sql: string) => Statement;

interface OpenDatabase {
  readonly connection: Database.Database;
  readonly files: OpenFiles;
  readonly commits: GroupCommit;
  readonly reader: StatementCache;
  readonly snapshots: Snapshots;
}

/**
 * One SQLite file with a write-ahead log, synchronised at every commit: what was acknowledged survives the loss of the
 * process and of the power. Several processes may have it open at once. When its files are deleted, moved or replaced it
 * writes nothing more and is not ready; the next process opens what is there then.
 */
export class SqliteDatabase implements Store, Reader {
  readonly location: string;
  private opened: OpenDatabase | undefined;

  /**
   * @param file made, with its folder, where it does not exist
   * @param logger is told once when the files are no longer in place, or are damaged
   */
  constructor(
    file: string,
    private readonly logger?: Pick<Journal, 'error'>,
  ) {
    this.location = resolve(file);
  }

  async open(): Promise<void> {
    if (this.opened) return;
    const before = identityOf(this.location);
    const connection = connect(this.location, 'rwc');
    try {
      checkApplication(connection, this.location);
      connection.pragma('journal_mode = WAL');
      connection.pragma('synchronous = FULL');
      openLog(connection);
      const files = OpenFiles.note(this.location, before, (lost) => this.reportLost(lost));
      const commits = new GroupCommit(connection, files);
      await commits.write(() => migrate(connection));
      const snapshots = new Snapshots(() => this.connectAgain(files));
      this.opened = { connection, files, commits, reader: new StatementCache(connection), snapshots };
    } catch (error) {
      connection.close();
      throw toCoreError(error);
    }
  }

  async ping(): Promise<void> {
    this.ready().files.verify();
    this.read('SELECT 1', (statement) => statement.get());
  }

  async close(): Promise<void> {
    const { opened } = this;
    if (!opened) return;
    await opened.commits.idle();
    // If not, the connection stays open until the process ends: SQLite deletes the log with the last connection, and another
    // process may have written into that log since.
    if (!opened.files.areInPlace()) return;
    this.opened = undefined;
    opened.snapshots.close();
    opened.connection.close();
  }

  read<Result>(sql: string, use: (statement: Statement) => Result): Result {
    return this.watchingSync(() => this.ready().reader.read(sql, use));
  }

  /**
   * Lends a reader that sees the store as it is now, for as long as `work` takes.
   * @param client whose bound counts, as in {@link ListQuery}
   * @throws CatalogueError `unavailable` where too many others do the same
   */
  async inSnapshot<Result>(work: (reader: Reader) => Promise<Result>, client?: string): Promise<Result> {
    return this.watching(this.ready().snapshots.read(work, client));
  }

  /** Runs `work` in a transaction that others may share; see {@link GroupCommit.write}. */
  async write<Result>(work: (statement: Statements) => Result, rows?: number): Promise<Result> {
    const { commits, reader } = this.ready();
    return this.watching(commits.write(() => work((sql) => reader.statement(sql)), rows));
  }

  private async watching<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      throw this.orDamaged(error);
    }
  }

  private watchingSync<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw this.orDamaged(error);
    }
  }

  /** A database that SQLite finds damaged takes no more writes: each could spread the damage. */
  private orDamaged(error: unknown): unknown {
    if (!(error instanceof UnusableStore)) return error;
    this.opened?.files.markLost();
    return unavailable(error.message, error);
  }

  private ready(): OpenDatabase {
    if (!this.opened) throw unavailable('The store is not open.');
    return this.opened;
  }

  /** A further connection to the files that are open already, and to no others. */
  private connectAgain(files: OpenFiles): Database.Database {
    files.verify();
    const connection = connect(this.location, 'rw');
    try {
      openLog(connection);
      files.verify();
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  private reportLost(files: readonly string[]): void {
    this.logger?.error(
      'files of the store were deleted, moved, replaced or damaged while the service runs; writes are refused. Export what can be read. Then stop the service, restore a backup, and start it',
      { files },
    );
  }
}

/** SQLite opens the write-ahead log when it first reads the database. */
function openLog(connection: Database.Database): void {
  pragma(connection, 'user_version');
}

function migrate(connection: Database.Database): void {
  const version = pragma(connection, 'user_version');
  if (version === MIGRATIONS.length) return;
  for (const step of MIGRATIONS.slice(version)) connection.exec(step);
  connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}`);
}
