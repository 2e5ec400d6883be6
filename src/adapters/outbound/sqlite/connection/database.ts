import { resolve } from 'node:path';
import type Database from 'libsql';
import { DERIVED_VERSION } from '../../../../application/ports/derived-data.js';
import type { Logger } from '../../../../application/ports/logger.js';
import { type PoolFigures, type Store, StoreConfigError } from '../../../../application/ports/store.js';
import { unavailable } from '../../../../domain/errors.js';
import { type MaybePromise, yieldToEventLoop } from '../../../../shared/promises.js';
import type { Task } from '../../../../shared/task-scheduler.js';
import { GroupCommit, LogCheckpoints } from './commits.js';
import {
  connect,
  pragma,
  type Reader,
  type Sql,
  type Statement,
  StatementCache,
  translateError,
} from './connection.js';
import { type FileSystemType, identityOf, networkWarning, OpenFiles, USE_LOCAL_DISK } from './files.js';
import { APPLICATION_ID, MIGRATIONS, migrate } from './migrations.js';
import { connectAsync, ReaderThreads, Snapshots, type ThreadReader } from './readers.js';
import { checkApplication } from './schema-check.js';

/** How often the log tells how far a change of the schema is. */
const LOG_EVERY_MS = 5_000;

/** SQLite opens the write-ahead log when it first reads the database. */
const OPEN_LOG = 'PRAGMA user_version';

/** More rows than any commit has: the log is copied before requests would wait for it. */
const MANY_ROWS = Number.MAX_SAFE_INTEGER;

/** Returns the prepared statement of an SQL text. */
export type Statements = (sql: string) => Statement;

interface Closable {
  exec(sql: string): MaybePromise<unknown>;
  close(): void;
}

interface OpenDatabase {
  readonly connection: Database.Database;
  readonly files: OpenFiles;
  readonly checkpoints: LogCheckpoints;
  readonly commits: GroupCommit;
  readonly statements: StatementCache;
  readonly snapshots: Snapshots;
  readonly threads: ReaderThreads;
}

/**
 * One SQLite file with a write-ahead log that is synchronised at every commit: an acknowledged write survives a crash
 * of the process and a power failure. Several processes may open the file at once. If its files are deleted, moved or
 * replaced, this process writes nothing more and is not ready.
 */
export class SqliteDatabase implements Store, Reader {
  readonly location: string;
  private opened: OpenDatabase | undefined;

  /**
   * @param file created with its folder if it does not exist
   * @param logger gets one error if the files are no longer in place, or are damaged, a warning if they are on a network
   *   file system, and how far a change of the schema is
   */
  constructor(
    file: string,
    private readonly logger?: Pick<Logger, 'error' | 'info' | 'warn'>,
    private readonly typeOf?: FileSystemType,
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
      connection.exec(OPEN_LOG);
      const files = OpenFiles.record(this.location, before, (lost) => this.reportLost(lost));
      const checkpoints = new LogCheckpoints(
        connection,
        () => this.connectAgain(files, connect),
        (error) => this.reportCheckpoint(files, translateError(error, this.location)),
      );
      const statements = new StatementCache(connection);
      const commits = new GroupCommit(connection, files, {
        begun: () => checkVersion(statements),
        committed: (rows) => checkpoints.committed(rows),
      });
      // Another process that changes the schema now may take minutes.
      const patienceMs = pragma(connection, 'user_version') < MIGRATIONS.length ? Number.POSITIVE_INFINITY : undefined;
      if (await commits.alone(() => this.update(connection), patienceMs)) await checkpoints.committed(MANY_ROWS);
      const snapshots = new Snapshots(() => this.connectAgain(files, connect));
      const threads = new ReaderThreads(() => this.connectAgain(files, connectAsync));
      this.opened = { connection, files, checkpoints, commits, statements, snapshots, threads };
      const warning = networkWarning(this.location, this.typeOf);
      if (warning !== undefined) this.logger?.warn(`${warning}; ${USE_LOCAL_DISK}`);
    } catch (error) {
      connection.close();
      throw translateError(error, this.location);
    }
  }

  /** Brings the schema up to date. @returns whether a file of an earlier version was changed */
  private async update(connection: Database.Database): Promise<boolean> {
    const version = pragma(connection, 'user_version');
    const isOld = version < MIGRATIONS.length;
    let loggedAt = version > 0 ? Number.NEGATIVE_INFINITY : performance.now();
    for (const done of migrate(connection, version)) {
      await yieldToEventLoop();
      if (performance.now() < loggedAt + LOG_EVERY_MS) continue;
      this.logger?.info('changing the database to the schema of this version', { done });
      loggedAt = performance.now();
    }
    if (!isOld) return false;
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}`);
    checkApplication(connection, this.location);
    return version > 0;
  }

  async ping(): Promise<void> {
    this.ready().files.verify();
    this.get('SELECT 1');
  }

  pools(): readonly PoolFigures[] {
    const { opened } = this;
    return opened ? [opened.commits, opened.snapshots, opened.threads].map(({ figures }) => figures) : [];
  }

  async close(): Promise<void> {
    const { opened } = this;
    if (!opened) return;
    await opened.commits.idle();
    // If files changed, the connection stays open until the process ends: SQLite deletes the log with the last
    // connection, and another process may have written to that log since.
    if (!opened.files.areUnchanged()) return;
    this.opened = undefined;
    await Promise.all([opened.snapshots.close(), opened.threads.close()]);
    opened.checkpoints.close();
    opened.connection.close();
  }

  /** Runs a statement that changes nothing. */
  read<Result>(sql: string, use: (statement: Statement) => Result): Result {
    try {
      return use(this.ready().statements.statement(sql));
    } catch (error) {
      return this.rethrow(error);
    }
  }

  row<Row extends unknown[]>({ text, values }: Sql): Row | undefined {
    return this.get<Row>(text, ...values);
  }

  all<Row>(sql: string, ...values: readonly unknown[]): Row[] {
    return this.read(sql, (statement) => statement.all(values) as Row[]);
  }

  /** Returns the first row; undefined if there is none. */
  get<Row>(sql: string, ...values: readonly unknown[]): Row | undefined {
    return this.read(sql, (statement) => statement.get(values) as Row | undefined);
  }

  /**
   * Runs `work` with a reader that sees the database as it is now.
   * @throws AppError `unavailable` if too many others do the same
   */
  async inSnapshot<Result>(work: (reader: Reader) => Promise<Result>, task?: Task): Promise<Result> {
    return this.ready().snapshots.read(work, task).catch(this.rethrow);
  }

  /** Runs `work` with a reader whose statements run on another thread; see {@link ReaderThreads.read}. */
  async onThread<Result>(
    work: (reader: ThreadReader) => Promise<Result>,
    task: Task,
    timeoutMs: number,
  ): Promise<Result> {
    return this.ready().threads.read(work, task, timeoutMs).catch(this.rethrow);
  }

  /**
   * Runs `work` in a transaction that other writes may share; see {@link GroupCommit.write}.
   * @throws AppError `unavailable`, also if a newer version of this service has changed the schema or derived data
   */
  async write<Result>(work: (statement: Statements) => Result, rows?: number): Promise<Result> {
    const { commits, statements } = this.ready();
    const statement: Statements = (sql) => statements.statement(sql);
    return commits.write(() => work(statement), rows).catch(this.rethrow);
  }

  /**
   * The end of every error of the driver. If SQLite finds the database damaged, all writes are refused from now on: each
   * could spread the damage.
   */
  private readonly rethrow = (error: unknown): never => {
    const translated = translateError(error);
    if (!(translated instanceof StoreConfigError)) throw translated;
    this.opened?.files.markLost();
    throw unavailable(translated.message, translated);
  };

  private ready(): OpenDatabase {
    if (!this.opened) throw unavailable('The store is not open.');
    return this.opened;
  }

  /** Opens another connection, to the same files as the first. */
  private async connectAgain<Connection extends Closable>(
    files: OpenFiles,
    open: (file: string, mode: 'rw') => Connection,
  ): Promise<Connection> {
    files.verify();
    const connection = open(this.location, 'rw');
    try {
      await connection.exec(OPEN_LOG);
      files.verify();
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** After damage, all writes are refused. */
  private reportCheckpoint(files: OpenFiles, error: unknown): void {
    if (error instanceof StoreConfigError) files.markLost();
    const message = 'the write-ahead log cannot be copied into the database; it grows until that succeeds';
    this.logger?.error(message, { error });
  }

  private reportLost(files: readonly string[]): void {
    this.logger?.error(
      'files of the store were deleted, moved, replaced or damaged while the service runs; writes are refused. Export what can be read. Then stop the service, restore a backup, and start it',
      { files },
    );
  }
}

/** @throws AppError `unavailable` if a newer version has changed the schema, or makes its derived data */
function checkVersion(statements: StatementCache): void {
  const [version] = statements.statement('PRAGMA user_version').get() as [number];
  const [derived] = statements.statement('SELECT max(version) FROM derived').get() as [number];
  if (version !== MIGRATIONS.length || derived > DERIVED_VERSION)
    throw unavailable('A newer version of this service has the database, whose columns this one would leave empty.');
}
