import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'libsql';
import { type Store, UnusableStore } from '../../../application/ports/store.js';
import { unavailable } from '../../../domain/errors.js';
import { GroupCommit } from './group-commit.js';
import { APPLICATION_ID, MIGRATIONS } from './migrations.js';
import { Snapshots } from './snapshots.js';
import { toCoreError } from './sqlite-errors.js';
import { type Reader, SqliteReader, type Statement } from './sqlite-reader.js';

/** Gives the prepared statement of an SQL text. */
export type Statements = (sql: string) => Statement;

interface OpenDatabase {
  readonly connection: Database.Database;
  readonly commits: GroupCommit;
  readonly reader: SqliteReader;
  readonly snapshots: Snapshots;
}

/**
 * One SQLite file with a write-ahead log, synchronised at every commit: what was acknowledged survives the loss of the
 * process and of the power. Several processes may have it open at once.
 */
export class SqliteDatabase implements Store, Reader {
  readonly location: string;
  private opened: OpenDatabase | undefined;

  /** @param file made, with its folder, where it does not exist */
  constructor(file: string) {
    this.location = resolve(file);
  }

  async open(): Promise<void> {
    if (this.opened) return;
    const connection = this.connect();
    const commits = new GroupCommit(connection);
    try {
      this.recognise(connection);
      connection.pragma('journal_mode = WAL');
      connection.pragma('synchronous = FULL');
      await commits.write(() => this.migrate(connection));
    } catch (error) {
      connection.close();
      throw toCoreError(error);
    }
    const snapshots = new Snapshots(() => this.connect());
    this.opened = { connection, commits, reader: new SqliteReader(connection), snapshots };
  }

  async ping(): Promise<void> {
    this.read('SELECT 1', (statement) => statement.get());
  }

  async close(): Promise<void> {
    const { opened } = this;
    if (!opened) return;
    await opened.commits.idle();
    this.opened = undefined;
    opened.snapshots.close();
    opened.connection.close();
  }

  read<Result>(sql: string, use: (statement: Statement) => Result): Result {
    return this.ready().reader.read(sql, use);
  }

  /**
   * Lends a reader that sees the store as it is now, for as long as `work` takes.
   * @param client whose bound counts, as in {@link ListQuery}
   * @throws CatalogueError `unavailable` where too many others do the same
   */
  async inSnapshot<Result>(work: (reader: Reader) => Promise<Result>, client?: string): Promise<Result> {
    return this.ready().snapshots.read(work, client);
  }

  /** Runs `work` in a transaction that others may share; see {@link GroupCommit.write}. */
  async write<Result>(work: (statement: Statements) => Result): Promise<Result> {
    const { commits, reader } = this.ready();
    return commits.write(() => work((sql) => reader.statement(sql)));
  }

  private ready(): OpenDatabase {
    if (!this.opened) throw unavailable('The store is not open.');
    return this.opened;
  }

  private connect(): Database.Database {
    try {
      mkdirSync(dirname(this.location), { recursive: true, mode: 0o700 });
      // The owner's alone, whatever the folder is: it holds signing keys. The log beside it is given the same mode.
      closeSync(openSync(this.location, 'a', 0o600));
      return new Database(this.location);
    } catch (error) {
      throw unavailable(`The file ${this.location} cannot be opened.`, error);
    }
  }

  /** Looks before anything is touched. */
  private recognise(connection: Database.Database): void {
    const owner = pragma(connection, 'application_id');
    if (owner !== APPLICATION_ID && !(owner === 0 && isEmpty(connection))) {
      throw new UnusableStore(`${this.location} is a database of another application.`);
    }
    if (pragma(connection, 'user_version') > MIGRATIONS.length) {
      throw new UnusableStore(`${this.location} was made by a newer version of this service.`);
    }
  }

  private migrate(connection: Database.Database): void {
    const version = pragma(connection, 'user_version');
    if (version === MIGRATIONS.length) return;
    for (const step of MIGRATIONS.slice(version)) connection.exec(step);
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}`);
  }
}

function pragma(connection: Database.Database, name: 'user_version' | 'application_id'): number {
  const [row] = connection.prepare(`PRAGMA ${name}`).all() as Record<string, number>[];
  return row?.[name] ?? 0;
}

function isEmpty(connection: Database.Database): boolean {
  return connection.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').all().length === 0;
}
