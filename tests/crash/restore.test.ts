import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
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
import { restoreDatabase } from '#src/adapters/outbound/sqlite/backup/backup.js';
import { product } from '../contract/repository/records.js';
import { inSqlite } from '../stores/sqlite.js';
import { ChildProcessService, CLI, catalogue, SERVICE } from '../support/child-process-service.js';
import type { HttpClient } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { needPythonSqlite, python } from '../support/python.js';
import { AT_NIGHT, sized } from '../support/run-settings.js';
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
  const database = (where: string) => join(where, 'data/catalogue.sqlite');
  const backup = (where: string) => join(where, 'b.sqlite');

  /** In another process, because this one would keep its lock on the file for a while. */
  const idsIn = async (file: string): Promise<number[]> => JSON.parse(await python(READ_IDS, file));
  /** Returns a copy of the template, without a file or folder. */
  const folder = (missing?: 'data' | 'data/catalogue.sqlite') => {
    const copy = mkdtempSync(join(root, 'run-'));
    cpSync(template, copy, { recursive: true });
    if (missing !== undefined) rmSync(join(copy, missing), { recursive: true });
    return copy;
  };
  const restore = (where: string, environment = {}, ...args: string[]) =>
    catalogue(where, ['restore', 'b.sqlite', ...args], environment);
  const filesIn = (where: string) => readdirSync(join(where, 'data'));
  const replacedIn = (where: string) => filesIn(where).filter((name) => name.startsWith('replaced-'));
  const damage = (where: string) => truncateSync(backup(where), 8_192);
  /** Every file with its content, to prove that nothing changed. */
  const contents = (where: string) =>
    readdirSync(where, { recursive: true, encoding: 'utf8' })
      .filter((name) => lstatSync(join(where, name)).isFile())
      .sort()
      .map((name) => [name, readFileSync(join(where, name)).toString('base64')]);

  before(async () => {
    needPythonSqlite();
    mkdirSync(template);
    const source = join(root, 'source.sqlite');
    await inSqlite(source, ({ products }) => products.insertAll(NEW.map((id) => product(id))));
    const made = await catalogue(root, ['backup', backup(template)], { SQLITE_FILE: source });
    expect(made.code, made.err).to.equal(0);
    await inSqlite(database(join(root, 'live')), async ({ products }) => {
      await products.reserveIds(32);
      await products.insertAll(OLD.map((id) => product(id)));
      cpSync(join(root, 'live'), template, { recursive: true });
    });
    expect(statSync(`${database(template)}-wal`).size).to.be.greaterThan(0);
  });

  it('replaces the database, and keeps the old one with the records of its log', async () => {
    const where = folder();
    const { code, out, err } = await restore(where);
    expect([code, err]).to.deep.equal([0, '']);
    const [replaced = ''] = replacedIn(where);
    expect(out).to.equal(
      `${database(where)}: restored, ${statSync(backup(where)).size} bytes, checked\n` +
        `The replaced database is in ${join(where, 'data', replaced)}\n`,
    );
    expect(filesIn(where).sort()).to.deep.equal(['catalogue.sqlite', replaced]);
    expect(statSync(database(where)).mode & 0o777).to.equal(0o600);
    expect(await idsIn(database(where))).to.deep.equal(NEW);
    expect(await idsIn(join(where, 'data', replaced, 'catalogue.sqlite'))).to.deep.equal(OLD);
  });

  it('lets no tag of before match, nor the tags of the same backup restored twice', async () => {
    const where = folder();
    const none = (tag: string) => ({ headers: { 'If-None-Match': tag } });
    const only = (tag: string) => ({ headers: { 'If-Match': tag } });
    const patch = (client: HttpClient, name: string, tag: string) => client.patch('/products/7', { name }, only(tag));
    let service: ChildProcessService | undefined;
    const restored = async () => {
      await service?.stop();
      expect(await restore(where)).to.include({ code: 0, err: '' });
      service = new ChildProcessService(where, { BOOTSTRAP_API_KEY: FIRST_KEY });
      return service.started(FIRST_KEY);
    };
    let client = await restored();
    try {
      const first = `${(await patch(client, 'blue', '*')).headers.etag}`;
      const made = await client.post('/products', { name: 'Made' });
      expect(first).to.match(/^"2-[0-9a-z]{4,}"$/);
      client.close();
      client = await restored();
      // Before another edit, and after it.
      expect((await patch(client, 'lost', first)).status).to.equal(412);
      const second = `${(await patch(client, 'green', '*')).headers.etag}`;
      expect([second.slice(0, 3), second === first]).to.deep.equal(['"2-', false]);
      const again = await client.post('/products', { name: 'Made again' });
      expect(again.headers.location).to.equal(made.headers.location);
      for (const [path, tag] of [
        ['/products/7', first],
        [`${made.headers.location}`, made.headers.etag],
      ])
        expect((await client.get(`${path}`, none(`${tag}`))).status, path).to.equal(200);
      expect((await patch(client, 'lost', first)).headers.etag).to.equal(second);
      expect((await client.get('/products/7', none(second))).status).to.equal(304);

      const { code } = await catalogue(where, ['changes', 'reset']);
      const { status, headers } = await client.get('/products/7', none(second));
      expect([code, status, headers.etag === second]).to.deep.equal([0, 200, false]);
      expect((await patch(client, 'lost', second)).status).to.equal(412);
      expect((await patch(client, 'red', `${headers.etag}`)).status).to.equal(200);
    } finally {
      client.close();
      await service?.stop('SIGKILL');
    }
  });

  it('works where there is no database, and moves a log away that belongs to none', async () => {
    const fresh = folder('data');
    expect((await restore(fresh, {}, '--json')).out).to.equal(
      `${JSON.stringify({ database: database(fresh), bytes: statSync(backup(fresh)).size })}\n`,
    );
    const stray = folder('data/catalogue.sqlite');
    expect((await restore(stray)).code).to.equal(0);
    expect(readdirSync(join(stray, 'data', replacedIn(stray)[0] ?? ''))).to.include('catalogue.sqlite-wal');
    for (const where of [fresh, stray]) expect(await idsIn(database(where))).to.deep.equal(NEW);
  });

  it('lets nobody create a database meanwhile if there is none', async function () {
    this.timeout(120_000);
    const where = folder('data');
    const { PATH } = process.env;
    const env = { PATH, PORT: '0', MANAGEMENT_PORT: '0', DATA_DIR: 'data', STORE_START_TIMEOUT_SECONDS: '1' };
    const run = (...program: string[]) =>
      spawnSync(process.execPath, program, { cwd: where, env, timeout: 10_000 }).status;
    const codes: (number | null)[] = [];
    const early: Database.Database[] = [];
    const { replaced } = await restoreDatabase(backup(where), database(where), new Date(), (done, all) => {
      if (all === 0) return;
      if (done === 0) early.push(new Database(database(where)));
      if (done === 0 || done === all) codes.push(run(CLI, 'seed', '--products', '1'), run(...SERVICE));
    });
    // Before the copy, and before and after the check of the copy, whose beginning may be reported several times.
    expect(codes).to.have.length.of.at.least(6);
    expect(new Set(codes)).to.deep.equal(new Set([75]));
    expect(replaced).to.equal(undefined);
    // A program that had opened the empty database, and used it only afterwards, would add its log to the new one.
    expect(() => early[0]?.exec('PRAGMA journal_mode = WAL')).to.throw('readonly');
    early[0]?.close();
    expect(await idsIn(database(where))).to.deep.equal(NEW);
    expect(filesIn(where).filter((name) => name !== 'tls')).to.deep.equal(['catalogue.sqlite']);
  });

  it('creates the missing file that symbolic links lead to, and keeps the links', async () => {
    const where = folder('data');
    mkdirSync(join(where, 'other'));
    const links = { 'first.sqlite': join('other', 'second.sqlite'), 'other/second.sqlite': 'real.sqlite' };
    for (const [link, target] of Object.entries(links)) symlinkSync(target, join(where, link));
    const { code, err } = await restore(where, { SQLITE_FILE: 'first.sqlite' });
    expect(code, err).to.equal(0);
    for (const [link, target] of Object.entries(links)) expect(readlinkSync(join(where, link))).to.equal(target);
    expect(await idsIn(join(where, 'other', 'real.sqlite'))).to.deep.equal(NEW);
  });

  it('leaves an empty database in place if it has not made it and the backup is damaged', async () => {
    const where = folder('data');
    mkdirSync(join(where, 'data'));
    writeFileSync(database(where), '');
    damage(where);
    expect((await restore(where)).code).to.equal(65);
    expect(filesIn(where)).to.deep.equal(['catalogue.sqlite']);
  });

  it('leaves no database if there is none and the backup is damaged, and keeps a log that belongs to none', async () => {
    const where = folder('data/catalogue.sqlite');
    damage(where);
    expect((await restore(where)).code).to.equal(65);
    const [replaced = '', ...others] = filesIn(where);
    expect(others).to.deep.equal([]);
    expect(readdirSync(join(where, 'data', replaced))).to.include('catalogue.sqlite-wal');
  });

  it('refuses while a service has the database open, which then loses nothing', async () => {
    const where = folder();
    const service = new ChildProcessService(where);
    const client = await service.started();
    const copy = ['copy', '--from', 'sqlite:data/catalogue.sqlite', '--to', 'sqlite:y.sqlite'];
    for (const { code, out, err } of [await restore(where), await catalogue(where, copy)]) {
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
    const made = (file: string) => {
      const other = new Database(file);
      other.exec('CREATE TABLE t (x)');
      other.close();
    };
    /** The fault of the backup, and the error. */
    const CASES: Record<string, [code: number, err: RegExp, spoil: (file: string) => void]> = {
      'no file': [66, /^There is no file .*b\.sqlite\.\n$/, rmSync],
      notes: [65, /b\.sqlite is not a SQLite database\.\n$/, (file) => writeFileSync(file, 'notes, '.repeat(999))],
      'another application': [
        65,
        /b\.sqlite is a database of another application\.\n$/,
        (file) => [rmSync(file), made(file)],
      ],
      'half a backup': [
        65,
        /is damaged|not a SQLite database/,
        (file) => truncateSync(file, Math.floor(statSync(file).size / 2 / 4096) * 4096),
      ],
      'a damaged backup': [
        65,
        /^The database is damaged: /,
        (file) => writeFileSync(file, readFileSync(file).fill(0xff, 8_192, 60_000)),
      ],
    };
    for (const [title, [code, err, spoil]] of Object.entries(CASES))
      it(`given ${title}`, async () => {
        const where = folder();
        spoil(backup(where));
        const end = await restore(where);
        expect([end.code, end.out], end.err).to.deep.equal([code, '']);
        expect(end.err).to.match(err);
        expect(replacedIn(where)).to.deep.equal([]);
        expect(readdirSync(where, { recursive: true }).filter((name) => name.includes('partial'))).to.be.empty;
        expect(await idsIn(database(where))).to.deep.equal(OLD);
      });

    it('if the file in place is a circle of links, no database of this service, or the backup itself', async () => {
      const where = folder();
      const at = (name: string) => join(where, name);
      made(at('x.sqlite'));
      symlinkSync('circle.sqlite', at('circle.sqlite'));
      linkSync(backup(where), at('second-name.sqlite'));
      const before = contents(where);
      for (const [code, err, environment] of [
        [75, `${at('circle.sqlite')} cannot be opened`, { SQLITE_FILE: 'circle.sqlite' }],
        [78, `${at('x.sqlite')} is a database of another application.\n`, { SQLITE_FILE: 'x.sqlite' }],
        [65, `${backup(where)} is the database itself.\n`, { SQLITE_FILE: 'b.sqlite' }],
        [65, `${backup(where)} is the database itself.\n`, { SQLITE_FILE: 'second-name.sqlite' }],
        [78, 'STORE=memory', { STORE: 'memory' }],
      ] as const) {
        const end = await restore(where, environment);
        expect([end.code, end.out], end.err).to.deep.equal([code, '']);
        expect(end.err).to.include(err);
      }
      expect(contents(where)).to.deep.equal(before);
    });
  });

  /** Restores in a copy of the template, and kills the process before its file operation of this number. */
  const killed = async (at: number, missing?: 'data/catalogue.sqlite') => {
    const where = folder(missing);
    const environment = { NODE_OPTIONS: `--import=${KILLER_MODULE}`, KILL_BEFORE: `${at}` };
    const process = new ChildProcessService(where, environment, [CLI, 'restore', 'b.sqlite']);
    const { code, signal } = await process.exit;
    if (signal !== 'SIGKILL') expect(code, process.log).to.equal(0);
    return { where, isDone: signal !== 'SIGKILL', message: `killed before operation ${at}` };
  };
  /** The next run completes what the killed one began. */
  const expectCompleted = async (where: string) => {
    const { code, out, err } = await restore(where);
    expect(code, err).to.equal(0);
    expect(await idsIn(database(where))).to.deep.equal(NEW);
    return out;
  };

  it('leaves the old database whole or the new one, if it is killed before any of its file operations', async function () {
    // It starts over thirty processes, one after the other.
    this.timeout(600_000);
    const outcomes: string[] = [];
    for (let at = 1; ; at += STRIDE) {
      const { where, isDone, message } = await killed(at);
      const found = await idsIn(database(where));
      expect([OLD, NEW], message).to.deep.include(found);
      outcomes.push(found.length === OLD.length ? 'old' : 'new');
      if (isDone) break;
      await expectCompleted(where);
      // It clears away what the killed one left.
      const left = readdirSync(join(where, 'data'), { recursive: true, encoding: 'utf8' });
      expect(left.filter((name) => name.endsWith('.partial'))).to.deep.equal([]);
      for (const file of left.filter((name) => name.endsWith('/catalogue.sqlite')))
        expect(statSync(join(where, 'data', file)).ino, `${file} is no second name of the database`).to.not.equal(
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
      return statSync(database(where)).size === statSync(backup(where)).size ? 'new' : 'empty';
    };
    const outcomes: string[] = [];
    for (let at = 1; ; at += STRIDE) {
      const { where, isDone, message } = await killed(at, 'data/catalogue.sqlite');
      const outcome = outcomeIn(where);
      outcomes.push(outcome);
      if (outcome !== 'none') expect(logsIn(where), message).to.have.length(1);
      if (isDone) break;
      // A service starts on what is left. Where there is no database, SQLite then deletes the log.
      const other = join(where, 'other');
      cpSync(join(where, 'data'), join(other, 'data'), { recursive: true });
      expect((await catalogue(other, ['seed', '--products', '1'])).code).to.equal(0);
      if (outcome !== 'none') expect(logsIn(other)).to.have.length(1);
      const out = await expectCompleted(where);
      expect(logsIn(where)).to.have.length(1);
      if (outcome !== 'empty') continue;
      expect(out).to.not.include('replaced');
      expect(existsSync(join(where, 'data', replacedIn(where)[0] ?? '', 'catalogue.sqlite'))).to.equal(false);
    }
    expect(outcomes.join(' ')).to.match(AT_NIGHT ? /^(none )+(empty )+(new ?)+$/ : /^(none )+(empty )*(new ?)+$/);
  });
});
