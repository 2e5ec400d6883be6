/**
 * A thousand statements of SQLite on other threads, each of which its time limit ends, before it begins or while it runs:
 * two at once, with garbage collected every 5 ms, connections replaced and commits in between. None runs on, the process
 * neither stops nor aborts, and every connection serves on.
 */
import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { connectAsync, ReaderThreads } from '#src/adapters/outbound/sqlite/connection/readers.js';
import { sql } from '#src/adapters/outbound/sqlite/sql/schema.js';
import { Task } from '#src/shared/task-scheduler.js';
import { expectAppError } from '../../tests/support/expect-refusal.js';
import { collectGarbage } from '../../tests/support/garbage.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';

const INTERRUPTS = 1_000;
/** It takes many seconds, and then returns a row, so that a lost interrupt fails the test. */
const LONG = sql(
  'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000000) SELECT count(*) FROM n',
);

describe('A thousand interrupts', () => {
  const file = join(temporaryFolder(), 'interrupts.sqlite');
  const database = new SqliteDatabase(file);
  let opened = 0;
  const threads = new ReaderThreads(() => {
    opened++;
    return connectAsync(file);
  }, 2);
  before(() => database.open());
  after(async () => {
    await threads.close();
    await database.close();
  });

  it('end as many statements', async () => {
    let left = INTERRUPTS;
    const commit = () => database.write((statement) => statement('UPDATE counters SET next_id = next_id').run());
    const run = async (task: Task) => {
      while (left > 0) {
        const number = left--;
        const long = threads.read((reader) => reader.row(LONG), task, number % 17);
        await expectAppError(long, 'query_too_expensive');
        const row = await threads.read((reader) => reader.row(sql(`SELECT ${number}`)), task, 600_000);
        expect(row).to.deep.equal([number]);
        await commit();
      }
    };
    const garbage = setInterval(collectGarbage, 5);
    try {
      await Promise.all([run(new Task('a')), run(new Task('b'))]);
    } finally {
      clearInterval(garbage);
    }
    expect(threads.figures).to.include({ used: 0, waiting: 0, timeouts: 0 });
    expect(opened).to.be.greaterThan(2);
  }).timeout(600_000);
});
