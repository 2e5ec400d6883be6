import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { LAST_TAKEN, MIGRATIONS, RELEASED } from '#src/adapters/outbound/sqlite/connection/migrations.js';
import { loadSettings, SettingsError } from '#src/config/settings.js';
import { createService } from '#src/process/service.js';
import { createSchema } from '../support/old-sqlite.js';
import { AT_NIGHT } from '../support/run-settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { runInProcess } from '../unit/adapters/inbound/cli/run-command.js';

const KNOWN = MIGRATIONS.length;

/** What Litestream does to a database when it begins to replicate it. */
const LITESTREAM = `
  CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
  CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER);
  INSERT INTO _litestream_seq (id, seq) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET seq = seq + 1`;

/** Databases that Litestream replicates. An older or newer version of it may define its tables otherwise. */
const REPLICATED: readonly (readonly [name: string, sql: string])[] = [
  ['its tables', LITESTREAM],
  ['one table', 'CREATE TABLE _litestream_lock (id INTEGER)'],
  ['another table of that name', 'CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER, a)'],
  ['a table that is missing besides', `DROP TABLE reservations; ${LITESTREAM}`],
];

/** What another program does to a database, and what the refusal says. */
const CHANGES: readonly (readonly [name: string, sql: string, difference: string])[] = [
  [
    'a table is missing',
    'DROP TABLE reservations',
    'the table reservations is missing, the index reservations_age is missing',
  ],
  ['an index is missing', 'DROP INDEX products_sku', 'the index products_sku is missing'],
  [
    'an index is another',
    'DROP INDEX users_name; CREATE INDEX users_name ON users ("email")',
    'the index users_name is different',
  ],
  [
    'a trigger revives keys',
    "CREATE TRIGGER revive AFTER DELETE ON api_keys BEGIN INSERT INTO api_keys SELECT 99, 1, 0, 0, '{}'; END",
    'the trigger revive does not belong to it',
  ],
  ['a view is added', 'CREATE VIEW v AS SELECT * FROM users', 'the view v does not belong to it'],
  ['a table is added', 'CREATE TABLE t (a)', 'the table t does not belong to it'],
  ['a column is added', 'ALTER TABLE orders ADD COLUMN a TEXT', 'the table orders is different'],
  [
    'a trigger is named as SQLite names its own objects',
    `PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES
      ('trigger', 'sqlite_stat1', 'users', 0, 'CREATE TRIGGER sqlite_stat1 AFTER DELETE ON users BEGIN SELECT 1; END')`,
    'the trigger sqlite_stat1 does not belong to it',
  ],
  [
    'a table is named like those of Litestream',
    'CREATE TABLE _litestream_lease (a)',
    'the table _litestream_lease does not belong to it',
  ],
  ['a name has a line break', 'CREATE VIEW "a\nb" AS SELECT 1', 'the view a\\u000ab does not belong to it'],
];

const VERSIONS = [0, -1];

/** Numbers of unreleased builds. */
const REFUSED = [1, 3, 5, 12];

/** What a database may have besides. */
const ALLOWED: readonly (readonly [name: string, sql: string])[] = [
  ['statistics', 'ANALYZE'],
  ['another order of its pages', 'VACUUM'],
  ['counters of rows', 'CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO t VALUES (1); DROP TABLE t'],
];

describe('a database with another schema than its version', () => {
  const folder = temporaryFolder();
  const good = join(folder, 'good.sqlite');
  let count = 0;

  before(async () => {
    const seeded = { SQLITE_FILE: join(folder, 'seeded.sqlite') };
    expect((await runInProcess(['seed', '--products', '3'], seeded)).code).to.equal(0);
    expect((await runInProcess(['backup', good], seeded)).code).to.equal(0);
  });

  /** A file of its own for each command, because this process closes a database some time after its command. */
  const copyOf = (file: string) => {
    const copy = join(folder, `${++count}.sqlite`);
    copyFileSync(file, copy);
    return copy;
  };
  const changed = (sql: string) => {
    const file = copyOf(good);
    const database = new Database(file);
    database.exec(sql);
    database.close();
    return file;
  };
  const settingsOf = (file: string) => ({
    SQLITE_FILE: file,
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    MANAGEMENT_PORT: '0',
    LOG_LEVEL: 'silent',
  });
  /** Every command that opens the store, and a copy in both directions. */
  const commands = (file: string) => [
    ['backup', `${file}.backup`],
    ['keys', 'list'],
    ['keys', 'create', '--name', 'x', '--scopes', 'all'],
    ['keys', 'revoke', '1'],
    ['signing-keys', 'list'],
    ['signing-keys', 'rotate'],
    ['signing-keys', 'revoke', '1'],
    ['changes', 'reset'],
    ['seed', '--products', '5'],
    ['copy', '--from', `sqlite:${file}`, '--to', `sqlite:${file}.copy`],
    ['copy', '--from', `sqlite:${copyOf(good)}`, '--to', `sqlite:${file}`],
  ];
  const start = async (file: string): Promise<unknown> => {
    const service = await createService(loadSettings(settingsOf(file)));
    const outcome = await service.start().then(
      () => 'served',
      (error: unknown) => error,
    );
    await service.stop();
    return outcome;
  };

  const REMEDY = 'undo what another program changed, or restore a backup';
  const DROP = 'DROP TABLE IF EXISTS _litestream_seq; DROP TABLE IF EXISTS _litestream_lock';
  /** @returns why a file is refused, and what to do */
  type Refusal = (file: string) => readonly [message: string, remedy: string];
  const differs =
    (difference: string): Refusal =>
    (file) => [`${file} does not have the schema ${KNOWN} of this service: ${difference}`, REMEDY];
  const isReplicated: Refusal = (file) => [
    `${file} has tables of Litestream, whose replicas of it can be damaged (docs/how-to/backup.md)`,
    `stop Litestream, and run: sqlite3 ${file} "${DROP}"`,
  ];

  const expectRefused = async (template: string, refusal: Refusal) => {
    const bytes = readFileSync(template);
    const refused = (file: string) => `${refusal(file).join('; ')}.`;
    const expectUnchanged = (file: string) => expect(readFileSync(file).equals(bytes), file).to.equal(true);
    for (const at of commands(good).keys()) {
      const file = copyOf(template);
      const args = commands(file)[at] ?? [];
      const { code, out, err } = await runInProcess(args, settingsOf(file));
      expect([code, out, err], args.join(' ')).to.deep.equal([78, '', `${refused(file)}\n`]);
      expectUnchanged(file);
    }
    const file = copyOf(template);
    const error = await start(file);
    expect(error).to.be.instanceOf(SettingsError);
    expect((error as SettingsError).issues).to.deep.equal([refused(file)]);
    const restored = await runInProcess(['restore', file], settingsOf(join(folder, `${++count}.sqlite`)));
    expect([restored.code, restored.out, restored.err]).to.deep.equal([65, '', `${refused(file)}\n`]);
    const { code, out } = await runInProcess(['check', '--json'], settingsOf(file));
    expect(code).to.equal(1);
    const findings = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const [message, remedy] = refusal(file);
    expect(findings).to.deep.include({ subject: 'store', verdict: 'wrong', message, remedy });
    expectUnchanged(file);
  };

  for (const [name, sql, difference] of CHANGES)
    it(`is refused by the start and every command in one line: ${name}`, () =>
      expectRefused(changed(sql), differs(difference)));

  for (const [name, sql] of REPLICATED)
    it(`is refused with the name of Litestream: ${name}`, () => expectRefused(changed(sql), isReplicated));

  it('is refused if a newer version made it', () =>
    expectRefused(changed(`PRAGMA user_version = ${KNOWN + 1}`), (file) => [
      `${file} was made by a newer version of this service: its schema is ${KNOWN + 1}, and this version knows up to ${KNOWN}`,
      'install the newer version, or restore a backup of this one',
    ]));

  for (const version of VERSIONS)
    it(`is refused if it says that it has schema ${version}`, async () => {
      const file = changed(`PRAGMA user_version = ${version}`);
      const { code, err } = await runInProcess(['keys', 'list'], settingsOf(file));
      expect(code, err).to.equal(78);
      expect(err.split('\n')).to.have.length(2);
      const restored = await runInProcess(['restore', file], settingsOf(join(folder, `${++count}.sqlite`)));
      expect(restored.code, restored.err).to.equal(65);
      expect((await runInProcess(['check'], settingsOf(file))).code).to.equal(1);
    });

  it('is named by five differences at most', async () => {
    const { err } = await runInProcess(['keys', 'list'], settingsOf(changed(`PRAGMA user_version = ${RELEASED}`)));
    expect(err).to.match(/service: ([^,]+, ){5}and \d+ more differences; undo/);
  });

  it('is replaced by a backup', async () => {
    const file = changed('DROP TABLE users');
    expect(await runInProcess(['restore', copyOf(good)], settingsOf(file))).to.include({ code: 0, err: '' });
    expect(await start(file)).to.equal('served');
  });

  for (const [name, sql] of ALLOWED)
    it(`does not have it by ${name}`, async () => {
      const file = changed(sql);
      expect(await runInProcess(['keys', 'list'], settingsOf(file))).to.include({ code: 0, err: '' });
      const target = settingsOf(join(folder, `${++count}.sqlite`));
      expect(await runInProcess(['restore', file], target)).to.include({ code: 0, err: '' });
      expect(await start(target.SQLITE_FILE)).to.equal('served');
      expect((await runInProcess(['check'], target)).out).to.include('tables and indexes are there');
    });

  it('is refused if Litestream has opened the file that the first start makes, until its tables are dropped', async () => {
    const file = join(folder, `${++count}.sqlite`);
    const database = new Database(file);
    database.exec(LITESTREAM);
    const error = await start(file);
    const [message] = isReplicated(file);
    expect((error as SettingsError).issues.join()).to.include(message);
    expect((await runInProcess(['check'], settingsOf(copyOf(file)))).out).to.include('tables of Litestream');
    database.exec(DROP);
    database.close();
    expect(await start(file)).to.equal('served');
  });

  for (const version of REFUSED)
    it(`is refused with the commit that upgrades it if it is of an unreleased build: ${version}`, () =>
      expectRefused(changed(`PRAGMA user_version = ${version}`), (file) => [
        `${file} has the schema ${version} of an unreleased build`,
        'start the commit 9ed25c3f once with it, which brings it to 14',
      ]));

  it('is taken from the last unreleased build, but for objects that do not belong to it', async () => {
    const built = (sql: string) => {
      const file = join(folder, `${++count}.sqlite`);
      const database = new Database(file);
      createSchema(database, LAST_TAKEN + 1);
      database.exec(`DROP TABLE derived; DROP TABLE leases; PRAGMA user_version = ${LAST_TAKEN}; ${sql}`);
      database.close();
      return file;
    };
    const build = settingsOf(built(''));
    expect(await start(build.SQLITE_FILE)).to.equal('served');
    expect((await runInProcess(['check'], build)).out).to.include(`the current schema, ${KNOWN}`);
    const file = built('CREATE VIEW v AS SELECT 1');
    expect((await runInProcess(['keys', 'list'], settingsOf(file))).err).to.include('the view v does not belong');
    expect(new Database(file).pragma('user_version')).to.deep.equal([{ user_version: LAST_TAKEN }]);
  });

  it('is accepted in the form of the first release, and brought to the current one', async () => {
    const file = join(folder, `${++count}.sqlite`);
    const database = new Database(file);
    createSchema(database, RELEASED);
    database.close();
    const target = settingsOf(join(folder, `${++count}.sqlite`));
    expect(await runInProcess(['restore', file], target)).to.include({ code: 0, err: '' });
    expect(await start(target.SQLITE_FILE)).to.equal('served');
    expect((await runInProcess(['check'], target)).out).to.include(`the current schema, ${KNOWN}`);
  });

  describe('or a file that is none', () => {
    const bytes = () => readFileSync(good);
    const FILES: readonly (readonly [name: string, make: (file: string) => void])[] = [
      ['a folder', (file) => mkdirSync(file)],
      ['nothing', () => {}],
      ['an empty file', (file) => writeFileSync(file, '')],
      ['one byte', (file) => writeFileSync(file, 'S')],
      ['a text', (file) => writeFileSync(file, 'notes, '.repeat(1_000))],
      ['half a header', (file) => writeFileSync(file, bytes().subarray(0, 50))],
      ['a header alone', (file) => writeFileSync(file, bytes().subarray(0, 100))],
      ['its first page', (file) => writeFileSync(file, bytes().subarray(0, 4_096))],
      ['half of it', (file) => writeFileSync(file, bytes().subarray(0, bytes().length / 2))],
      ['all but a byte', (file) => writeFileSync(file, bytes().subarray(0, -1))],
      ['an unknown format', (file) => writeFileSync(file, bytes().fill(9, 18, 20))],
      ['an unknown file format of the schema', (file) => writeFileSync(file, bytes().fill(9, 47, 48))],
      ['a page size of 3', (file) => writeFileSync(file, bytes().fill(3, 16, 18))],
      ['another text encoding', (file) => writeFileSync(file, bytes().fill(2, 59, 60))],
      ['an empty first page', (file) => writeFileSync(file, bytes().fill(0, 100, 4_096))],
      ['a torn schema', (file) => writeFileSync(file, bytes().fill(0xff, 3_000, 4_096))],
    ];

    for (const [number, [name, make]] of FILES.entries())
      it(`ends no command with a defect: ${name}`, async () => {
        const made = () => {
          const file = join(folder, `${++count}.sqlite`);
          make(file);
          return file;
        };
        for (const at of commands(good).keys()) {
          // In the gate each file has every third command, and the next files the others.
          if (!AT_NIGHT && (number + at) % 3 !== 0) continue;
          const file = made();
          const args = commands(file)[at] ?? [];
          const { code, err } = await runInProcess(args, settingsOf(file));
          expect(code, `${args.join(' ')}: ${err}`).to.be.oneOf([0, 65, 66, 75, 78]);
          if (code !== 0) expect(err, args.join(' ')).to.match(/^[^\n]+\n(To do: [^\n]+\n)?$/);
        }
        const restored = await runInProcess(['restore', made()], settingsOf(join(folder, `${++count}.sqlite`)));
        // A last byte of 0 is not missed.
        expect(restored.code, restored.err).to.be.oneOf(name === 'all but a byte' ? [0, 65] : [65, 66]);
        if (restored.code !== 0) expect(restored.err).to.match(/^[^\n]+\n$/);
        const checked = await runInProcess(['check', '--deep'], settingsOf(made()));
        expect(checked.code, checked.out).to.be.oneOf([0, 1]);
        expect(checked.err).to.equal('');
      });
  });
});
