import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import Database from 'libsql/promise';

const TICK_MS = 50;

/**
 * Runs a statement that takes long in another thread, on its own connection, so that signals are heard meanwhile. The
 * driver closes that connection some time later.
 * @param file an absolute path of a database that nobody else uses
 * @param sql executed; its rows are lost
 * @param tick called again and again meanwhile; an error that it throws ends the wait
 * @param read a statement that returns one text, run afterwards; it may use temporary tables of `sql`
 * @throws what `tick` throws: the statement then runs on, until its end or that of the process
 */
export async function runAside(file: string, sql: string, tick: () => void, read: string): Promise<string> {
  const connection = new Database(`${pathToFileURL(file).href}?mode=rw`, {});
  let isOver = false;
  const done = (connection.exec(sql) as Promise<void>).finally(() => {
    isOver = true;
  });
  try {
    for (;;) {
      await Promise.race([done, sleep(TICK_MS)]);
      if (isOver) break;
      tick();
    }
    const statement = await connection.prepare(read);
    const [[text]] = (await statement.raw().all()) as [[string]];
    return text;
  } finally {
    // Else the close would wait for the statement.
    if (isOver) connection.close();
  }
}
