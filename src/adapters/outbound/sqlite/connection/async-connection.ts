import { availableParallelism } from 'node:os';
import { pathToFileURL } from 'node:url';
import Database from 'libsql/promise';
import { unavailable } from '../../../../domain/errors.js';
import { requireFile } from './files.js';

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
    return new Database(`${pathToFileURL(file).href}?mode=rw`, {});
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
