import { execFile } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turnOfTheEventLoop } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import {
  type AsyncConnection,
  type AsyncStatement,
  connectAsync,
  DRIVER_THREADS,
  ReaderThreads,
  type ThreadReader,
} from '#src/adapters/outbound/sqlite/connection/readers.js';
import { sql } from '#src/adapters/outbound/sqlite/sql/schema.js';
import { Task } from '#src/shared/task-scheduler.js';
import { expectAppError } from '../../../../../support/expect-refusal.js';
import { collectGarbage } from '../../../../../support/garbage.js';
import { temporaryFolder } from '../../../../../support/temporary-folder.js';
import { until } from '../../../../../support/until.js';

/** It takes many seconds, and then returns a row: a statement that nothing ends fails a test, which does not hang. */
const LONG = sql(
  'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000000) SELECT count(*) FROM n',
);
const ONE = sql('SELECT 1');
const COUNT = sql('SELECT count(*) FROM counters');
const NO_LIMIT = Number.POSITIVE_INFINITY;
const [A, B] = [new Task('a'), new Task('b')];

describe('statements on other threads', () => {
  const file = join(temporaryFolder(), 'threads.sqlite');
  let database: SqliteDatabase;
  let threads: ReaderThreads;
  let opened = 0;
  let closed = 0;
  let onPrepare: (() => void) | undefined;
  let prepared = 0;
  let begun = 0;
  let interrupts = 0;
  /** A statement begins when so many interrupts were sent. */
  let beginsAfter = 0;
  /** What stops or aborts the process. */
  const faults: string[] = [];

  beforeEach(async () => {
    database = new SqliteDatabase(file);
    await database.open();
    threads = new ReaderThreads(watched, 2);
    onPrepare = undefined;
    opened = closed = prepared = begun = interrupts = beginsAfter = 0;
  });
  afterEach(async () => {
    await threads.close();
    await database.close();
    expect(closed).to.equal(opened);
    expect(faults).to.deep.equal([]);
  });

  /** A connection of the driver that notes what is done to it. */
  function watched(): AsyncConnection {
    const connection = connectAsync(file);
    let running = 0;
    let isOpen = true;
    const during = async <Result>(promise: Promise<Result>) => {
      if (running > 0) faults.push('two statements of a connection at once');
      running++;
      try {
        return await promise;
      } finally {
        running--;
      }
    };
    const begin = async (statement: AsyncStatement, values: readonly unknown[]) => {
      begun++;
      if (beginsAfter > interrupts) await until('the interrupts', () => interrupts >= beginsAfter);
      return statement.all(values);
    };
    const watch = (statement: AsyncStatement): AsyncStatement => ({
      raw: () => watch(statement.raw()),
      all: (values) => during(begin(statement, values)),
    });
    opened++;
    return {
      exec: (text) => during(connection.exec(text)),
      prepare: async (text) => {
        prepared++;
        onPrepare?.();
        return watch(await during(connection.prepare(text)));
      },
      interrupt: () => {
        interrupts++;
        if (isOpen) connection.interrupt();
        else faults.push('an interrupt after the close');
      },
      close: () => {
        if (running > 0) faults.push('a close while a statement runs');
        isOpen = false;
        closed++;
        connection.close();
      },
    };
  }

  const read = (text: string, task = A) => threads.read((reader) => reader.row(sql(text)), task, NO_LIMIT);
  const endless = (task = A) => threads.read((reader) => reader.row(LONG), task, NO_LIMIT);
  const add = () =>
    database.write((statement) => statement('INSERT INTO counters VALUES (hex(randomblob(8)), 1)').run());

  it('return their first row', async () => {
    const row = (text: string, ...values: unknown[]) =>
      database.onThread((reader) => reader.row(sql(text, ...values)), A, NO_LIMIT);
    expect(await row("SELECT ?, 'b', null", 'a')).to.deep.equal(['a', 'b', null]);
    expect(await row('SELECT 1 WHERE ? > 1', 1)).to.equal(undefined);
  });

  it('see the database as it was when the read began', async () => {
    await add();
    const [before] = (await read(COUNT.text)) as [number];
    const seen = await threads.read(
      async (reader) => {
        await add();
        const rows = await Promise.all([reader.row(COUNT), reader.row(COUNT)]);
        await add();
        return [...rows, await reader.row(COUNT)];
      },
      A,
      NO_LIMIT,
    );
    expect(seen).to.deep.equal([[before], [before], [before]]);
    expect(await read(COUNT.text)).to.deep.equal([before + 2]);
  });

  it('end at the limit, and the connection serves on', async () => {
    for (const timeoutMs of [0, 1, 5, 20, 50]) {
      const long = threads.read((reader) => reader.row(LONG), A, timeoutMs);
      await expectAppError(long, 'query_too_expensive');
      expect(await read(`SELECT ${timeoutMs}`)).to.deep.equal([timeoutMs]);
    }
    expect(opened).to.equal(1);
  });

  it('do not stop the event loop while garbage is collected', async () => {
    for (let number = 1; number <= 20; number++) await read(`SELECT ${number}`);
    const before = begun;
    const outcome = endless().then(
      () => 'ran to its end',
      ({ code }) => code,
    );
    await until('it begins', () => begun === before + 1);
    for (let time = 0; time < 10; time++) {
      collectGarbage();
      await turnOfTheEventLoop();
    }
    await threads.close();
    expect(await outcome).to.equal('unavailable');
  });

  it('end although SQLite ignores an interrupt before they begin', async () => {
    beginsAfter = 1;
    const long = expectAppError(endless(), 'unavailable');
    await until('it shall begin', () => begun === 1);
    await threads.close();
    await long;
    expect(interrupts).to.be.greaterThan(1);
  });

  it('do not start after the limit, and what has its rows returns', async () => {
    const work = async (reader: ThreadReader) => {
      await until('the limit', async () => {
        await expectAppError(reader.row(ONE), 'query_too_expensive');
      });
      return 'done';
    };
    expect(await threads.read(work, A, 1)).to.equal('done');
  });

  it('have no limit in a turn that may take long', async () => {
    const work = async (reader: ThreadReader) => {
      const limited = threads.read((other) => other.row(LONG), B, 1);
      await expectAppError(limited, 'query_too_expensive');
      return reader.row(ONE);
    };
    expect(await threads.read(work, A.unlimited(), 0)).to.deep.equal([1]);
  });

  it('end with the read that did not wait for them, and the connection serves on', async () => {
    const ended: Promise<void>[] = [];
    const work = async (reader: ThreadReader) => {
      ended.push(expectAppError(reader.row(LONG), 'unavailable'));
      return reader;
    };
    const late = await threads.read(work, A, NO_LIMIT);
    await Promise.all([...ended, expectAppError(late.row(ONE), 'unavailable')]);
    expect(prepared).to.equal(1);
    expect(await read('SELECT 1')).to.deep.equal([1]);
    expect([opened, closed]).to.deep.equal([1, 0]);
  });

  it('do not begin if the store is closed while they are prepared', async () => {
    onPrepare = () => threads.close();
    await expectAppError(endless(), 'unavailable');
    expect([prepared, begun]).to.deep.equal([1, 0]);
  });

  it('end when the store is closed, once or twice', async () => {
    const long = expectAppError(endless(), 'unavailable');
    const waiting = expectAppError(endless(), 'unavailable');
    await until('it runs', () => threads.figures.used === 1 && opened === 1);
    await Promise.all([threads.close(), threads.close()]);
    expect([opened, closed]).to.deep.equal([1, 1]);
    await Promise.all([long, waiting, expectAppError(endless(), 'unavailable')]);
  });

  it('get another connection after 200 of them, or many characters', async () => {
    for (let time = 0; time < 401; time++) expect(await read(`SELECT ${time}`)).to.deep.equal([time]);
    expect([opened, closed]).to.deep.equal([3, 2]);
    for (let time = 0; time < 3; time++) await read(`SELECT ${time} --${'x'.repeat(70_000)}`);
    expect([opened, closed]).to.deep.equal([4, 3]);
  });

  it('do not wait for those of another client', async () => {
    const long = expectAppError(endless(), 'unavailable');
    expect(await read('SELECT 2', B)).to.deep.equal([2]);
    const second = expectAppError(endless(), 'unavailable');
    expect(threads.figures).to.include({ used: 1, waiting: 1 });
    await threads.close();
    await Promise.all([long, second]);
  });

  it('are at most as many as threads', () => {
    for (const cores of [1, 2, 3, 4, 16])
      expect(new ReaderThreads(watched, cores).figures.max).to.equal(Math.max(2, cores));
    expect(new ReaderThreads(watched).figures.max).to.equal(DRIVER_THREADS);
  });

  it('pass on errors in the words of the ports', async () => {
    const deletion = sql('DELETE FROM counters RETURNING name');
    await expectAppError(
      database.onThread((reader) => reader.row(deletion), A, NO_LIMIT),
      'unavailable',
    );
    const wrong = await read('SELECT no_such_column').catch((error) => error.code);
    expect(wrong).to.equal('SQLITE_ERROR');
    const refusals = await Promise.allSettled(Array.from({ length: 202 }, () => read('SELECT 1')));
    expect(refusals.filter(({ status }) => status === 'rejected')).to.have.length(1);
    const failing = threads.read(() => Promise.reject(new Error('no')), A, NO_LIMIT);
    expect(await failing.catch(({ message }) => message)).to.equal('no');
    expect(await read('SELECT 1')).to.deep.equal([1]);
  });

  if (process.platform === 'linux') {
    it('have the number of threads that the service asks for', async () => {
      const program = `
        import { readdirSync } from 'node:fs';
        import { connectAsync } from ${JSON.stringify(import.meta.resolve('#src/adapters/outbound/sqlite/connection/readers.js'))};
        const threads = () => readdirSync('/proc/self/task').length;
        const before = threads();
        connectAsync(${JSON.stringify(file)});
        console.log(threads() - before);`;
      const env = { ...process.env, TOKIO_WORKER_THREADS: '1' };
      const args = ['--input-type=module', '-e', program];
      const { stdout } = await promisify(execFile)(process.execPath, args, { env });
      expect(stdout).to.equal(`${DRIVER_THREADS}\n`);
    });

    it('leave no descriptor behind', async () => {
      const descriptors = (path: string) => () =>
        readdirSync('/proc/self/fd').filter((descriptor) => {
          try {
            return readlinkSync(`/proc/self/fd/${descriptor}`) === path;
          } catch {
            return false;
          }
        }).length;
      const [databases, logs] = [descriptors(file), descriptors(`${file}-wal`)];
      const before = { databases: databases(), logs: logs() };
      for (let time = 0; time < 120; time++) {
        await read(`SELECT ${time} --${'x'.repeat(131_072)}`);
        // The driver closes a connection when its statements are collected.
        if (time % 30 === 0) collectGarbage();
      }
      await until('the connections are closed', () => {
        collectGarbage();
        return logs() <= before.logs;
      });
      // SQLite keeps a descriptor of the database while another connection has a lock, for the next connection.
      expect(databases()).to.be.below(before.databases + 40);
      expect(closed).to.equal(120);
    });
  }
});
