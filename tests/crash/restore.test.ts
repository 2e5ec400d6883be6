import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { restoreDatabase } from '#src/adapters/outbound/sqlite/backup/restore.js';
import { sqliteStorage } from '#src/composition/sqlite-storage.js';
import { product } from '../contract/repository/records.js';
import { ChildProcessService, CLI, catalogue, SERVICE } from '../support/child-process-service.js';
import { needPythonSqlite, python } from '../support/python.js';
import { AT_NIGHT, sized } from '../support/run-settings.js';
import { ENDLESS } from '../support/tables.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** Kills the process, with SIGKILL, before its file operation of the number in the variable KILL_BEFORE. */
const KILLER = `
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
let left = Number(process.env.KILL_BEFORE);
for (const name of ['open', 'link', 'mkdir', 'rename', 'rm', 'rmdir', 'readdir', 'lstat']) {
  const original = fs[name];
  fs[name] = (...args) => {
    if (--left === 0) process.kill(process.pid, 'SIGKILL');
    return original(...args);
  };
}
syncBuiltinESMExports();
`;
const READ_IDS =
  'import json, sqlite3, sys; print(json.dumps([row[0] for row in sqlite3.connect(sys.argv[1]).execute("SELECT id FROM products ORDER BY id")]))';
/** The gate kills before each fourth operation, and the night before every one. */
const STRIDE = sized({ gate: 4, night: 1 });
const KILLER_MODULE = `data:text/javascript,${encodeURIComponent(KILLER)}`;

describe('catalogue restore', () => {
  const root = temporaryFolder();
  const OLD = [1, 2, 3];
  const NEW = [7, 8];
  /** A folder with the database of a killed service, whose newest records are in the log, and a backup. */
  const template = join(root, 'template');
  const database = (folder: string) => join(folder, 'data/catalogue.sqlite');

  const inStore = async <Result>(
    file: string,
    use: (storage: ReturnType<typeof sqliteStorage>) => Promise<Result>,
  ) => {
    const storage = sqliteStorage({ file, budget: ENDLESS });
    await storage.store.open();
    try {
      return await use(storage);
    } finally {
      await storage.store.close();
    }
  };
  /** In another process, because this one would keep its lock on the file for a while. */
  const idsIn = async (file: string): Promise<number[]> => JSON.parse(await python(READ_IDS, file));
  const folder = () => {
    const copy = mkdtempSync(join(root, 'run-'));
    cpSync(template, copy, { recursive: true });
    return copy;
  };
  const replacedIn = (where: string) =>
    readdirSync(join(where, 'data')).filter((name) => name.startsWith('replaced-'));
  /** Every file with its content, to prove that nothing changed. */
  const contents = (where: string) =>
    readdirSync(where, { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(where, name)).isFile())
      .sort()
      .map((name) => [name, readFileSync(join(where, name)).toString('base64')]);

  before(async () => {
    needPythonSqlite();
    mkdirSync(template);
    const source = join(root, 'source.sqlite');
    await inStore(source, ({ products }) => products.insertAll(NEW.map((id) => product(id))));
    const made = await catalogue(root, ['backup', join(template, 'b.sqlite')], { SQLITE_FILE: source });
    expect(made.code, made.err).to.equal(0);
    const live = join(root, 'live/data/catalogue.sqlite');
    await inStore(live, async ({ products }) => {
      await products.reserveIds(32);
      await products.insertAll(OLD.map((id) => product(id)));
      cpSync(join(root, 'live'), template, { recursive: true });
    });
    expect(statSync(`${database(template)}-wal`).size).to.be.greaterThan(0);
  });

  it('replaces the database, and keeps the old one with the records of its log', async () => {
    const where = folder();
    const { code, out, err } = await catalogue(where, ['restore', 'b.sqlite']);
    expect([code, err]).to.deep.equal([0, '']);
    const [replaced = ''] = replacedIn(where);
    expect(out).to.equal(
      `${database(where)}: restored, ${statSync(join(where, 'b.sqlite')).size} bytes, checked\n` +
        `The replaced database is in ${join(where, 'data', replaced)}\n`,
    );
    expect(readdirSync(join(where, 'data')).sort()).to.deep.equal(['catalogue.sqlite', replaced]);
    expect(statSync(database(where)).mode & 0o777).to.equal(0o600);
    expect(await idsIn(database(where))).to.deep.equal(NEW);
    expect(await idsIn(join(where, 'data', replaced, 'catalogue.sqlite'))).to.deep.equal(OLD);
  });

  it('works where there is no database, and moves a log away that belongs to none', async () => {
    const fresh = folder();
    rmSync(join(fresh, 'data'), { recursive: true });
    expect((await catalogue(fresh, ['restore', 'b.sqlite', '--json'])).out).to.equal(
      `${JSON.stringify({ database: database(fresh), bytes: statSync(join(fresh, 'b.sqlite')).size })}\n`,
    );
    expect(await idsIn(database(fresh))).to.deep.equal(NEW);
    const stray = folder();
    rmSync(database(stray));
    expect((await catalogue(stray, ['restore', 'b.sqlite'])).code).to.equal(0);
    expect(await idsIn(database(stray))).to.deep.equal(NEW);
    expect(readdirSync(join(stray, 'data', replacedIn(stray)[0] ?? ''))).to.include('catalogue.sqlite-wal');
  });

  it('lets nobody create a database meanwhile if there is none', async function () {
    this.timeout(120_000);
    const where = folder();
    rmSync(join(where, 'data'), { recursive: true });
    const run = (...program: string[]) => {
      const { PATH } = process.env;
      const env = {
        PATH,
        PORT: '0',
        MANAGEMENT_PORT: '0',
        DATA_DIR: 'data',
        STORE_START_TIMEOUT_SECONDS: '1',
      };
      return spawnSync(process.execPath, program, { cwd: where, env, timeout: 10_000 }).status;
    };
    const codes: (number | null)[] = [];
    const early: Database.Database[] = [];
    const { replaced } = await restoreDatabase(
      join(where, 'b.sqlite'),
      database(where),
      new Date(),
      (done, all) => {
        if (all === 0) return;
        if (done === 0) early.push(new Database(database(where)));
        if (done === 0 || done === all) codes.push(run(CLI, 'seed', '--products', '1'), run(...SERVICE));
      },
    );
    // Before the copy, and before and after the check of the copy.
    expect(codes).to.deep.equal([75, 75, 75, 75, 75, 75]);
    expect(replaced).to.equal(undefined);
    // A program that had opened the empty database, and used it only afterwards, would add its log to the new one.
    expect(() => early[0]?.exec('PRAGMA journal_mode = WAL')).to.throw('readonly');
    early[0]?.close();
    expect(await idsIn(database(where))).to.deep.equal(NEW);
    expect(readdirSync(join(where, 'data')).filter((name) => name !== 'tls')).to.deep.equal([
      'catalogue.sqlite',
    ]);
  });

  it('creates the missing file that symbolic links lead to, and keeps the links', async () => {
    const where = folder();
    rmSync(join(where, 'data'), { recursive: true });
    mkdirSync(join(where, 'other'));
    symlinkSync(join('other', 'second.sqlite'), join(where, 'first.sqlite'));
    symlinkSync('real.sqlite', join(where, 'other', 'second.sqlite'));
    const { code, err } = await catalogue(where, ['restore', 'b.sqlite'], { SQLITE_FILE: 'first.sqlite' });
    expect(code, err).to.equal(0);
    expect(readlinkSync(join(where, 'first.sqlite'))).to.equal(join('other', 'second.sqlite'));
    expect(readlinkSync(join(where, 'other', 'second.sqlite'))).to.equal('real.sqlite');
    expect(await idsIn(join(where, 'other', 'real.sqlite'))).to.deep.equal(NEW);
  });

  it('fails for a symbolic link to itself, and changes nothing', async () => {
    const where = folder();
    symlinkSync('circle.sqlite', join(where, 'circle.sqlite'));
    const before = readdirSync(where);
    const { code, err } = await catalogue(where, ['restore', 'b.sqlite'], { SQLITE_FILE: 'circle.sqlite' });
    expect(code).to.equal(75);
    expect(err).to.include(`${join(where, 'circle.sqlite')} cannot be opened`);
    expect(readdirSync(where)).to.deep.equal(before);
  });

  it('leaves an empty database in place if it has not made it and the backup is damaged', async () => {
    const where = folder();
    rmSync(join(where, 'data'), { recursive: true });
    mkdirSync(join(where, 'data'));
    writeFileSync(database(where), '');
    truncateSync(join(where, 'b.sqlite'), 8_192);
    expect((await catalogue(where, ['restore', 'b.sqlite'])).code).to.equal(65);
    expect(readdirSync(join(where, 'data'))).to.deep.equal(['catalogue.sqlite']);
  });

  it('leaves no database if there is none and the backup is damaged, and keeps a log that belongs to none', async () => {
    const where = folder();
    rmSync(database(where));
    truncateSync(join(where, 'b.sqlite'), 8_192);
    expect((await catalogue(where, ['restore', 'b.sqlite'])).code).to.equal(65);
    const [replaced = '', ...others] = readdirSync(join(where, 'data'));
    expect(others).to.deep.equal([]);
    expect(readdirSync(join(where, 'data', replaced))).to.include('catalogue.sqlite-wal');
  });

  it('refuses while a service has the database open, which then loses nothing', async () => {
    const where = folder();
    const service = new ChildProcessService(where);
    const client = await service.started();
    for (const args of [
      ['restore', 'b.sqlite'],
      ['copy', '--from', 'sqlite:data/catalogue.sqlite', '--to', 'sqlite:y.sqlite'],
    ]) {
      const { code, out, err } = await catalogue(where, args);
      expect([code, out]).to.deep.equal([69, '']);
      expect(err).to.equal(
        `Another program has the database ${database(where)} open, such as a running service. Stop it first.\n`,
      );
    }
    expect(existsSync(join(where, 'y.sqlite'))).to.equal(false);
    expect((await client.post('/products', { name: 'later' })).status).to.equal(201);
    client.close();
    await service.stop('SIGKILL');
    expect(replacedIn(where)).to.deep.equal([]);
    expect(await idsIn(database(where))).to.have.length(OLD.length + 1);
  });

  describe('refuses with one line, and changes nothing,', () => {
    const made = (where: string, ...statements: string[]) => {
      const other = new Database(join(where, 'x.sqlite'));
      for (const statement of statements) other.exec(statement);
      other.close();
    };
    const OURS = 'PRAGMA application_id = 0x70637331';
    const CASES: readonly [title: string, code: number, err: RegExp, prepare: (where: string) => void][] = [
      ['no file', 66, /^There is no file .*x\.sqlite\.\n$/, () => {}],
      [
        'notes',
        65,
        /x\.sqlite is not a SQLite database\.\n$/,
        (where) => writeFileSync(join(where, 'x.sqlite'), 'notes, '.repeat(999)),
      ],
      [
        'another application',
        65,
        /x\.sqlite is a database of another application\.\n$/,
        (where) => made(where, 'CREATE TABLE t (x)'),
      ],
      [
        'a newer version',
        65,
        /x\.sqlite was made by a newer version/,
        (where) => made(where, 'CREATE TABLE t (x)', OURS, 'PRAGMA user_version = 999'),
      ],
      [
        'half a backup',
        65,
        /is damaged|not a SQLite database/,
        (where) => {
          cpSync(join(where, 'b.sqlite'), join(where, 'x.sqlite'));
          truncateSync(
            join(where, 'x.sqlite'),
            Math.floor(statSync(join(where, 'b.sqlite')).size / 2 / 4096) * 4096,
          );
        },
      ],
      [
        'a damaged backup',
        65,
        /^The database is damaged: /,
        (where) => {
          const bytes = readFileSync(join(where, 'b.sqlite'));
          writeFileSync(join(where, 'x.sqlite'), bytes.fill(0xff, 8_192, 60_000));
        },
      ],
    ];
    for (const [title, code, err, prepare] of CASES)
      it(`given ${title}`, async () => {
        const where = folder();
        prepare(where);
        const end = await catalogue(where, ['restore', 'x.sqlite']);
        expect([end.code, end.out], end.err).to.deep.equal([code, '']);
        expect(end.err).to.match(err);
        expect(replacedIn(where)).to.deep.equal([]);
        expect(readdirSync(where).filter((name) => name.includes('partial'))).to.deep.equal([]);
        expect(await idsIn(database(where))).to.deep.equal(OLD);
      });

    it('if the file in place is no database of this service, or the backup itself', async () => {
      const where = folder();
      made(where, 'CREATE TABLE t (x)');
      const before = contents(where);
      const other = await catalogue(where, ['restore', 'b.sqlite'], { SQLITE_FILE: 'x.sqlite' });
      expect([other.code, other.out]).to.deep.equal([78, '']);
      const same = await catalogue(where, ['restore', 'b.sqlite'], { SQLITE_FILE: 'b.sqlite' });
      expect([same.code, same.err]).to.deep.equal([
        65,
        `${join(where, 'b.sqlite')} is the database itself.\n`,
      ]);
      linkSync(join(where, 'b.sqlite'), join(where, 'second-name.sqlite'));
      const linked = await catalogue(where, ['restore', 'second-name.sqlite'], { SQLITE_FILE: 'b.sqlite' });
      expect([linked.code, linked.err]).to.deep.equal([
        65,
        `${join(where, 'second-name.sqlite')} is the database itself.\n`,
      ]);
      rmSync(join(where, 'second-name.sqlite'));
      const memory = await catalogue(where, ['restore', 'b.sqlite'], { STORE: 'memory' });
      expect(memory.code).to.equal(78);
      expect(contents(where)).to.deep.equal(before);
    });
  });

  /** Restores, and kills the process before its file operation of this number. @returns whether it had ended before */
  const isDoneBefore = async (at: number, where: string) => {
    const environment = { NODE_OPTIONS: `--import=${KILLER_MODULE}`, KILL_BEFORE: `${at}` };
    const killed = new ChildProcessService(where, environment, [CLI, 'restore', 'b.sqlite']);
    const { code, signal } = await killed.exit;
    if (signal !== 'SIGKILL') expect(code, killed.log).to.equal(0);
    return signal !== 'SIGKILL';
  };

  it('leaves the old database whole or the new one, if it is killed before any of its file operations', async function () {
    // It starts over thirty processes, one after the other.
    this.timeout(600_000);
    const outcomes: string[] = [];
    for (let at = 1; ; at += STRIDE) {
      const where = folder();
      const isDone = await isDoneBefore(at, where);
      const found = await idsIn(database(where));
      expect([OLD, NEW], `killed before operation ${at}`).to.deep.include(found);
      outcomes.push(found.length === OLD.length ? 'old' : 'new');
      if (isDone) break;
      // The next run completes it, and clears away what the killed one left.
      const again = await catalogue(where, ['restore', 'b.sqlite']);
      expect(again.code, again.err).to.equal(0);
      expect(await idsIn(database(where))).to.deep.equal(NEW);
      const left = readdirSync(join(where, 'data'), { recursive: true, encoding: 'utf8' });
      expect(left.filter((name) => name.endsWith('.partial'))).to.deep.equal([]);
      const linked = replacedIn(where).map((name) => join(where, 'data', name, 'catalogue.sqlite'));
      for (const file of linked)
        expect(statSync(file).ino, `${file} is no second name of the database`).to.not.equal(
          statSync(database(where)).ino,
        );
    }
    expect(outcomes.length * STRIDE).to.be.greaterThan(8);
    expect(outcomes.join(' ')).to.match(/^(old )+(new ?)+$/);
    if (AT_NIGHT) expect(outcomes.join(' ')).to.include('old old').and.to.include('new new');
  });

  it('leaves an empty database at most, and every log that belongs to none, if it is killed where there is no database', async function () {
    // It starts about fifty processes, one after the other.
    this.timeout(600_000);
    const log = readFileSync(`${database(template)}-wal`);
    const logsIn = (where: string) =>
      replacedIn(where)
        .map((name) => join(where, 'data', name, 'catalogue.sqlite-wal'))
        .filter((file) => existsSync(file) && readFileSync(file).equals(log));
    const outcomeIn = (where: string) => {
      if (!existsSync(database(where))) return 'none';
      const isNew = statSync(database(where)).size === statSync(join(where, 'b.sqlite')).size;
      return isNew ? 'new' : 'empty';
    };
    const outcomes: string[] = [];
    for (let at = 1; ; at += STRIDE) {
      const where = folder();
      rmSync(database(where));
      const isDone = await isDoneBefore(at, where);
      const outcome = outcomeIn(where);
      outcomes.push(outcome);
      if (outcome !== 'none') expect(logsIn(where), `killed before operation ${at}`).to.have.length(1);
      if (isDone) break;
      // A service starts on what is left. Where there is no database, SQLite then deletes the log.
      const other = join(where, 'other');
      cpSync(join(where, 'data'), join(other, 'data'), { recursive: true });
      expect((await catalogue(other, ['seed', '--products', '1'])).code).to.equal(0);
      if (outcome !== 'none') expect(logsIn(other)).to.have.length(1);
      const again = await catalogue(where, ['restore', 'b.sqlite']);
      expect(again.code, again.err).to.equal(0);
      expect(await idsIn(database(where))).to.deep.equal(NEW);
      expect(logsIn(where)).to.have.length(1);
      if (outcome === 'empty') {
        expect(again.out).to.not.include('replaced');
        expect(existsSync(join(where, 'data', replacedIn(where)[0] ?? '', 'catalogue.sqlite'))).to.equal(
          false,
        );
      }
    }
    expect(outcomes.join(' ')).to.match(
      AT_NIGHT ? /^(none )+(empty )+(new ?)+$/ : /^(none )+(empty )*(new ?)+$/,
    );
  });

  it('changes nothing if a signal interrupts it', async () => {
    const where = folder();
    await catalogue(where, ['seed', '--products', '20000'], { SQLITE_FILE: join(where, 'large.sqlite') });
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const restore = new ChildProcessService(where, {}, [CLI, 'restore', 'large.sqlite']);
      const isWriting = () => readdirSync(join(where, 'data')).some((name) => name.endsWith('.partial'));
      let hasEnded = false;
      restore.exit.then(() => {
        hasEnded = true;
      });
      // A pause of any length could miss the copy.
      while (!isWriting() && !hasEnded) await new Promise((resolve) => setImmediate(resolve));
      expect((await restore.stop(signal)).code).to.equal(code);
      expect(restore.log).to.equal('Interrupted. The database is unchanged.\n');
      expect(isWriting()).to.equal(false);
      expect(replacedIn(where)).to.deep.equal([]);
      expect(await idsIn(database(where))).to.deep.equal(OLD);
    }
  });
});
