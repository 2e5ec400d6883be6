import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { GroupCommit } from '#src/adapters/outbound/sqlite/connection/commits.js';
import { duplicateValue } from '#src/domain/errors.js';
import { temporaryFolder } from '../../../../../support/temporary-folder.js';
import { until } from '../../../../../support/until.js';

describe('GroupCommit', () => {
  const folder = temporaryFolder();
  let file: string;
  let connection: Database.Database;
  let commits: GroupCommit;
  let executed: string[];
  let count = 0;

  beforeEach(() => {
    file = join(folder, `${++count}.sqlite`);
    connection = new Database(file);
    connection.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER PRIMARY KEY)');
    executed = [];
    const exec = connection.exec.bind(connection);
    connection.exec = (sql) => {
      executed.push(sql);
      return exec(sql);
    };
    commits = new GroupCommit(connection, { verify() {} });
  });
  afterEach(() => connection.close());

  const insert = (n: number) => commits.write(() => connection.prepare('INSERT INTO t VALUES (?)').run(n).changes);
  const rows = () => connection.prepare('SELECT n FROM t ORDER BY n').all();

  it('shares one commit among writes that arrive together', async () => {
    await Promise.all([1, 2, 3, 4].map(insert));
    expect(executed).to.deep.equal(['BEGIN IMMEDIATE', 'COMMIT']);
    expect(rows()).to.have.length(4);
  });

  it('commits at most 256 rows together, unless one write has more', async () => {
    const write = (n: number, size: number) =>
      commits.write(() => connection.prepare('INSERT INTO t VALUES (?)').run(n).changes, size);
    await Promise.all([write(1, 200), write(2, 56), write(3, 1), write(4, 300), write(5, 1), write(6, 1)]);
    const commit = ['BEGIN IMMEDIATE', 'COMMIT'];
    expect(executed).to.deep.equal([...commit, ...commit, ...commit, ...commit]);
    expect(rows()).to.have.length(6);
  });

  it('leaves other work some turns of the event loop after a large write', async () => {
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const begun: number[] = [];
    const write = (size: number) => commits.write(() => begun.push(turns), size);
    await Promise.all([write(257), write(257), write(256), write(1)]);
    isOver = true;
    const [first = 0, second = 0, third = 0, fourth = 0] = begun;
    expect(second - first).to.be.at.least(8);
    expect(third - second).to.be.at.least(8);
    expect(fourth - third).to.be.below(4);
  });

  it('commits the other writes of a batch if one write is rejected', async () => {
    const refused = commits.write(() => {
      throw duplicateValue('sku');
    });
    const outcomes = await Promise.allSettled([insert(1), refused, insert(2)]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect(rows()).to.have.length(2);
  });

  it('lets nobody read on its connection between the writes and their commit', async () => {
    const seen: boolean[] = [];
    const look = () => queueMicrotask(() => seen.push(connection.inTransaction));
    await Promise.all([commits.write(look), commits.write(look)]);
    expect(seen).to.deep.equal([false, false]);
  });

  it('rolls back and rejects a whole batch after an unexpected error', async () => {
    const outcomes = await Promise.allSettled([insert(1), commits.write(() => connection.exec('nonsense')), insert(2)]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected', 'rejected']);
    expect(rows()).to.have.length(0);
    await insert(3);
    expect(rows()).to.have.length(1);
  });

  it('waits for the lock of another process without blocking the event loop', async () => {
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    let turns = 0;
    const interval = setInterval(() => turns++, 5);
    const write = insert(1);
    setTimeout(() => other.exec('COMMIT'), 200);
    await write;
    clearInterval(interval);
    other.close();
    expect(turns).to.be.greaterThan(0);
    expect(rows()).to.have.length(1);
  });

  it('rejects a queued write with the one whose wait for the same lock timed out', async () => {
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    commits = new GroupCommit(connection, { verify() {} }, undefined, 100);
    // How often the lock was tried until the rejection.
    const rejected = (n: number) => insert(n).catch(() => executed.length);
    const first = rejected(1);
    await until('the first write waits', () => executed.length > 0);
    const [one, two] = await Promise.all([first, rejected(2)]);
    expect(one).to.be.a('number').and.to.equal(two);
    other.close();
  });

  it('fails if another process keeps the lock', async () => {
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    commits = new GroupCommit(connection, { verify() {} }, undefined, 300);
    // Each turn takes longer than the pause between two tries.
    const busy = setInterval(() => {
      for (const end = performance.now() + 50; performance.now() < end; );
    });
    expect(await insert(1).catch(({ code }) => code)).to.equal('SQLITE_BUSY');
    clearInterval(busy);
    expect(executed.length, 'a busy thread waits no longer').to.be.lessThan(20);
    other.exec('ROLLBACK');
    other.close();
    await insert(1);
  });
});
