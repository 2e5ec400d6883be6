import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import Database from 'libsql';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { BACKGROUND } from '#src/shared/task-scheduler.js';
import { expectAppError } from '../support/expect-refusal.js';
import { collectGarbage } from '../support/garbage.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('a SQLite database whose files are lost while it is open', () => {
  const root = temporaryFolder();
  const open: SqliteDatabase[] = [];
  let folder: string;
  let file: string;
  let reports: unknown[];

  beforeEach(() => {
    folder = mkdtempSync(join(root, 'store-'));
    mkdirSync(join(folder, 'data'));
    file = join(folder, 'data/catalogue.sqlite');
    reports = [];
  });
  afterEach(async () => {
    for (const database of open.splice(0)) await database.close();
  });

  const opened = async (path = file): Promise<SqliteDatabase> => {
    const error = (_: string, details?: Readonly<Record<string, unknown>>) => reports.push(details?.['files']);
    const database = new SqliteDatabase(path, { error, info: () => {}, warn: () => {} });
    await database.open();
    open.push(database);
    return database;
  };
  const write = (database: SqliteDatabase, meanwhile = () => {}) =>
    database.write((statement) => {
      statement("INSERT INTO counters VALUES ('x', 1) ON CONFLICT DO UPDATE SET next_id = next_id + 1").run();
      meanwhile();
    });
  const snapshot = (database: SqliteDatabase) => database.inSnapshot(async () => {});
  const onThread = (database: SqliteDatabase, work: () => Promise<unknown>) =>
    database.onThread(work, BACKGROUND, Number.POSITIVE_INFINITY);
  const replace = (path: string) => {
    writeFileSync(`${path}.new`, '');
    renameSync(`${path}.new`, path);
  };
  const rename = () => renameSync(join(folder, 'data'), join(folder, 'old'));

  const LOSSES: readonly (readonly [event: string, lose: () => void, suffixes: readonly string[]])[] = [
    ['the database is deleted', () => rmSync(file), ['']],
    ['the log is deleted', () => rmSync(`${file}-wal`), ['-wal']],
    ['the shared memory is deleted', () => rmSync(`${file}-shm`), ['-shm']],
    ['the database is replaced', () => replace(file), ['']],
    ['the log is replaced', () => replace(`${file}-wal`), ['-wal']],
    ['the folder is renamed', rename, ['', '-wal', '-shm']],
    ['the database is overwritten', () => writeFileSync(file, 'x'), ['']],
  ];

  for (const [event, lose, suffixes] of LOSSES) {
    it(`is not ready, rejects writes and reports the loss once: ${event}`, async () => {
      const database = await opened();
      await write(database);
      lose();
      let attempts = 0;
      await expectAppError(
        write(database, () => attempts++),
        'unavailable',
      );
      await expectAppError(database.ping(), 'unavailable');
      await expectAppError(
        write(database, () => attempts++),
        'unavailable',
      );
      expect(attempts).to.equal(0);
      expect(reports).to.deep.equal([suffixes.map((suffix) => file + suffix)]);
    });

    it(`acknowledges no write that was in progress: ${event}`, async () => {
      const database = await opened();
      await expectAppError(write(database, lose), 'unavailable');
      expect(reports).to.have.length(1);
    });

    it(`does not recreate the files: ${event}`, async () => {
      const database = await opened();
      lose();
      const existing = suffixes.map((suffix) => existsSync(file + suffix));
      await expectAppError(snapshot(database), 'unavailable');
      await expectAppError(
        onThread(database, async () => {}),
        'unavailable',
      );
      expect(suffixes.map((suffix) => existsSync(file + suffix))).to.deep.equal(existing);
    });
  }

  const damaged = () => {
    throw new Database.SqliteError('database disk image is malformed', 'SQLITE_CORRUPT', 11);
  };
  const READS: [string, (database: SqliteDatabase) => Promise<unknown>][] = [
    ['in this thread', async (database) => database.read('SELECT 1', damaged)],
    ['on another thread', (database) => onThread(database, async () => damaged())],
  ];

  for (const [where, read] of READS)
    it(`is not ready, rejects writes and reports it once if SQLite finds the file damaged ${where}`, async () => {
      const database = await opened();
      await expectAppError(read(database), 'unavailable');
      await expectAppError(database.ping(), 'unavailable');
      await expectAppError(write(database), 'unavailable');
      expect(reports).to.deep.equal([[file]]);
    });

  it('stays unavailable after the files are restored, until it is opened again', async () => {
    const database = await opened();
    rename();
    await expectAppError(database.ping(), 'unavailable');
    renameSync(join(folder, 'old'), join(folder, 'data'));
    await expectAppError(database.ping(), 'unavailable');
    await expectAppError(write(database), 'unavailable');
    await database.close();
    await write(await opened());
  });

  it('deletes no log of the database that replaced it, neither at its close nor later', async () => {
    const database = new SqliteDatabase(file);
    await database.open();
    await write(database);
    await snapshot(database);
    rename();
    mkdirSync(join(folder, 'data'));
    for (const suffix of ['', '-wal', '-shm']) writeFileSync(file + suffix, suffix);
    await database.close();
    await closeConnections();
    for (const suffix of ['', '-wal', '-shm']) expect(readFileSync(file + suffix, 'utf8')).to.equal(suffix);
    await expectAppError(database.ping(), 'unavailable');
  });

  it('works through a symbolic link, and detects that the link changed', async () => {
    const link = join(folder, 'link.sqlite');
    await (await opened()).close();
    symlinkSync(file, link);
    const database = await opened(link);
    await write(database);
    await snapshot(database);
    await database.ping();
    writeFileSync(join(folder, 'other'), '');
    rmSync(link);
    symlinkSync(join(folder, 'other'), link);
    await expectAppError(write(database), 'unavailable');
    expect(reports).to.deep.equal([[link]]);
  });
});

/** The driver closes a connection completely only when its statements are garbage-collected. */
async function closeConnections(): Promise<void> {
  for (let time = 0; time < 5; time++) {
    collectGarbage();
    await sleep(5);
  }
}
