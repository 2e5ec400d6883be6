import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { SqliteDatabase } from '#src/adapters/outbound/sqlite/connection/database.js';
import { MIGRATIONS } from '#src/adapters/outbound/sqlite/connection/migrations.js';
import { checkApplication } from '#src/adapters/outbound/sqlite/connection/schema-check.js';
import { checkDatabase } from '#src/adapters/outbound/sqlite/diagnostics.js';
import { expectAppError } from '../../../../../support/expect-refusal.js';
import { RecordingLogger } from '../../../../../support/fakes.js';
import { createSchema } from '../../../../../support/old-sqlite.js';
import { PRODUCTS } from '../../../../../support/tables.js';
import { temporaryFolder } from '../../../../../support/temporary-folder.js';

/** https://www.sqlite.org/pragma.html#pragma_synchronous */
const FULL = 2;
/** The type of ext4. */
const LOCAL = 0xef53;

describe('the file of SQLite', () => {
  const folder = temporaryFolder();

  it('and its log are readable only by their owner, even in a shared folder', async () => {
    const shared = join(folder, 'shared');
    mkdirSync(shared);
    chmodSync(shared, 0o755);
    const database = new SqliteDatabase(join(shared, 'catalogue.sqlite'));
    await database.open();
    const files = readdirSync(shared);
    expect(files).to.include.members(['catalogue.sqlite', 'catalogue.sqlite-wal']);
    for (const file of files) expect(statSync(join(shared, file)).mode & 0o077, file).to.equal(0);
    await database.close();
  });

  it('is recognised while another process creates it', async () => {
    const file = join(folder, 'made-meanwhile.sqlite');
    const connection = new Database(file);
    const prepare = connection.prepare.bind(connection);
    let reads = 0;
    // The other process commits after the first read of this one.
    const interrupted = Object.assign(Object.create(connection), {
      prepare: (sql: string) => {
        if (reads++ === 1) {
          const other = new Database(file);
          other.exec('BEGIN');
          createSchema(other, MIGRATIONS.length);
          other.exec('COMMIT');
          other.close();
        }
        return prepare(sql);
      },
    });
    checkApplication(interrupted, file);
    expect(reads).to.be.above(1);
    connection.close();
  });

  it('takes no write of a version that would leave new columns empty', async () => {
    const file = join(folder, 'newer.sqlite');
    const database = new SqliteDatabase(file);
    await database.open();
    const newer = new Database(file);
    newer.exec(`ALTER TABLE products ADD COLUMN shade TEXT; PRAGMA user_version = ${MIGRATIONS.length + 1}`);
    await expectAppError(
      database.write((statement) => statement('DELETE FROM counters').run()),
      'unavailable',
    );
    newer.close();
    await database.close();
  });

  it('keeps its mode if it exists already', async () => {
    const file = join(folder, 'shared', 'catalogue.sqlite');
    chmodSync(file, 0o640);
    const database = new SqliteDatabase(file);
    await database.open();
    expect(statSync(file).mode & 0o777).to.equal(0o640);
    await database.close();
  });

  it('stays locked while another process opens and closes it, even after a snapshot', async () => {
    const file = join(folder, 'locked.sqlite');
    const database = new SqliteDatabase(file);
    await database.open();
    await database.inSnapshot(async () => {});
    const before = readdirSync(folder);
    const look = `new (require('libsql'))(process.argv[1]).prepare('SELECT * FROM products').all()`;
    execFileSync(process.execPath, ['-e', look, file]);
    expect(readdirSync(folder)).to.deep.equal(before).and.to.include('locked.sqlite-wal');
    await database.write((statement) => statement("INSERT INTO counters VALUES ('x', 1)").run());
    await database.close();
  });

  it('is synchronised with the disk at every commit', async () => {
    const database = new SqliteDatabase(join(folder, 'synchronous.sqlite'));
    await database.open();
    expect(database.read('PRAGMA synchronous', (statement) => statement.get())).to.deep.equal([FULL]);
    await database.close();
  });

  it('is unavailable to a write while the disk is full, and not afterwards', async () => {
    const database = new SqliteDatabase(join(folder, 'full.sqlite'));
    await database.open();
    const limitPages = (pages: number) =>
      database.write((statement) => statement(`PRAGMA max_page_count = ${pages}`).get());
    const insert = () =>
      database.write((statement) => statement('INSERT INTO counters VALUES (?, 1)').run('x'.repeat(100_000)));
    await limitPages(1);
    await expectAppError(insert(), 'unavailable');
    await limitPages(1_000);
    await insert();
    await database.close();
  });

  it('can be opened concurrently when it is new', async () => {
    const databases = Array.from({ length: 5 }, () => new SqliteDatabase(join(folder, 'many.sqlite')));
    for (let tries = 0; tries < 20; tries++) {
      const outcomes = await Promise.allSettled(databases.map((database) => database.open()));
      if (outcomes.every(({ status }) => status === 'fulfilled')) break;
    }
    for (const database of databases) await database.ping();
    for (const database of databases) await database.close();
  });

  it('is unavailable before it is open and after it is closed', async () => {
    const database = new SqliteDatabase(join(folder, 'closed.sqlite'));
    await expectAppError(database.ping(), 'unavailable');
    await database.open();
    await database.close();
    await database.close();
    await expectAppError(database.ping(), 'unavailable');
    await expectAppError(
      database.write(() => {}),
      'unavailable',
    );
  });
});

describe('a database on a network file system', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'catalogue.sqlite');
  const warnings = async (type: number) => {
    const logger = new RecordingLogger();
    const database = new SqliteDatabase(file, logger, () => type);
    await database.open();
    await database.close();
    const options = { tables: [PRODUCTS], deep: false, now: Date.now(), typeOf: () => type };
    const found = checkDatabase(file, options).diagnoses.filter(({ verdict }) => verdict !== 'ok');
    return { logged: logger.events, found };
  };

  for (const [type, name] of [
    [0x6969, 'NFS'],
    [0xff534d42, 'CIFS'],
    [0xff534d42 | 0, 'CIFS'],
    [0xfe534d42, 'SMB2'],
    [0x65735546, 'FUSE'],
  ] as const)
    it(`is what the start and a check warn of: ${name}, ${type}`, async () => {
      const message = `${file} is on ${name}, where the locks of SQLite may fail and its database be damaged`;
      const remedy = 'move the database to a disk of this machine';
      expect(await warnings(type)).to.deep.equal({
        logged: [`${message}; ${remedy}`],
        found: [{ subject: 'store', verdict: 'warning', message, remedy }],
      });
    });

  it('is not on a local one', async () => {
    expect(await warnings(LOCAL)).to.deep.equal({ logged: [], found: [] });
  });
});
