import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { MIGRATIONS } from '#src/adapters/outbound/sqlite/connection/migrations.js';
import { ChildProcessService } from '../support/child-process-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** What a start that fails says, and how it ends. */
interface Failure {
  readonly code: number | null;
  /** The lines on standard error that are no log lines. */
  readonly lines: readonly string[];
}

const ANOTHER = 'Another instance of the service may be running';

describe('the program, if it cannot start,', () => {
  const root = temporaryFolder();
  const others: Server[] = [];
  const folder = () => mkdtempSync(join(root, 'run-'));
  /** Returns a port on which another program listens. */
  const takenPort = async (): Promise<number> => {
    const server = createServer().listen(0, '127.0.0.1');
    others.push(server);
    await new Promise((listening) => server.once('listening', listening));
    return (server.address() as AddressInfo).port;
  };
  /** Runs the program until it ends. Its words go to standard error alone, without a stack. */
  const failure = async (environment: Record<string, string>, where = folder()): Promise<Failure> => {
    const service = new ChildProcessService(where, environment);
    const { code } = await service.exit;
    expect(service.out).to.equal('');
    expect(service.log).to.not.match(/^ +at |\\n +at |node:/m);
    return { code, lines: service.log.split('\n').filter((line) => line !== '' && !line.startsWith('{')) };
  };
  after(() => {
    for (const server of others) server.close();
  });

  for (const WORKERS of ['1', '2'])
    for (const [name, advice] of [
      ['PORT', 'stop it, or choose another port.'],
      ['MANAGEMENT_PORT', 'each needs a MANAGEMENT_PORT of its own besides its PORT, and 0 takes any free one.'],
    ] as const)
      it(`names ${name} if that port is in use, with WORKERS=${WORKERS}`, async () => {
        const port = String(await takenPort());
        expect(await failure({ [name]: port, WORKERS })).to.deep.equal({
          code: 69,
          lines: [`${name}: 127.0.0.1:${port} is in use. ${ANOTHER}; ${advice}`],
        });
      });

  it('names both ports if both are in use', async () => {
    const [PORT, MANAGEMENT_PORT] = [String(await takenPort()), String(await takenPort())];
    const { code, lines } = await failure({ PORT, MANAGEMENT_PORT });
    expect([code, lines.map((line) => line.split(' ', 4).join(' '))]).to.deep.equal([
      69,
      [`MANAGEMENT_PORT: 127.0.0.1:${MANAGEMENT_PORT} is in`, `PORT: 127.0.0.1:${PORT} is in`],
    ]);
  });

  it('names HOST if it is no address of the machine, or unknown', async () => {
    for (const [environment, line] of [
      [{ HOST: '192.0.2.1' }, /^HOST: 192\.0\.2\.1 is no address of this machine \(EADDRNOTAVAIL\)\.$/],
      [{ HOST: 'host.invalid' }, /^HOST: host\.invalid cannot be resolved \((ENOTFOUND|EAI_AGAIN)\)\.$/],
      [
        { MANAGEMENT_HOST: '192.0.2.1' },
        /^MANAGEMENT_HOST: 192\.0\.2\.1 is no address of this machine \(EADDRNOTAVAIL\)\.$/,
      ],
    ] as const) {
      const { code, lines } = await failure(environment);
      expect([code, lines.length]).to.deep.equal([78, 1]);
      expect(lines[0]).to.match(line);
    }
  });

  describe('names DATA_DIR and exits with 78', () => {
    const where = folder();
    writeFileSync(join(where, 'file'), '');
    const CASES: readonly [title: string, DATA_DIR: string, why: string][] = [
      ['it is a file', 'file', 'it is a file (EEXIST)'],
      ['it is below a file', 'file/data', 'not a directory (ENOTDIR)'],
      ['it is a device', '/dev/null', 'it is a file (EEXIST)'],
      ['no folder can be created there', '/proc/catalogue', 'no such file or directory (ENOENT)'],
      ['it is a folder without files of its own', '/proc', 'no such file or directory (ENOENT)'],
    ];
    for (const [title, DATA_DIR, why] of CASES)
      it(`if ${title}: ${DATA_DIR}`, async () => {
        expect(await failure({ DATA_DIR }, where)).to.deep.equal({
          code: 78,
          lines: [`DATA_DIR: no file can be created in ${resolve(where, DATA_DIR)}: ${why}.`],
        });
      });

    it('with any store, transport and number of workers', async () => {
      for (const more of [{ STORE: 'memory', TLS: 'proxy', TRUSTED_PROXIES: '::1' }, { WORKERS: '2' }])
        expect(await failure({ DATA_DIR: 'file', ...more }, where)).to.deep.equal({
          code: 78,
          lines: [`DATA_DIR: no file can be created in ${join(where, 'file')}: it is a file (EEXIST).`],
        });
    });

    it('if the certificates in it cannot be written, read or parsed', async () => {
      const one = folder();
      mkdirSync(join(one, 'data'));
      writeFileSync(join(one, 'data/tls'), '');
      const written = await failure({}, one);
      expect([written.code, written.lines.length]).to.deep.equal([78, 1]);
      expect(written.lines[0]).to.equal(
        `DATA_DIR: the certificates in data/tls cannot be used: not a directory (ENOTDIR).`,
      );
      const two = folder();
      mkdirSync(join(two, 'data/tls'), { recursive: true });
      writeFileSync(join(two, 'data/tls/server.pem'), 'nonsense');
      expect(await failure({}, two)).to.deep.equal({
        code: 78,
        lines: ['DATA_DIR: the certificates in data/tls are damaged; delete the folder to start with a new CA.'],
      });
    });
  });

  it('creates DATA_DIR with its parents otherwise, and leaves nothing behind in it but its files', async () => {
    const where = folder();
    const service = new ChildProcessService(where, { STORE: 'memory', DATA_DIR: 'a/b' });
    await service.listening();
    await service.stop();
    expect(readdirSync(join(where, 'a/b'))).to.deep.equal(['tls']);
    for (const name of ['a', 'a/b']) expect(statSync(join(where, name)).mode & 0o077, name).to.equal(0);
  });

  describe('names the file of SQLite, leaves it as it is and exits with 78', () => {
    const where = folder();
    const database =
      (...statements: string[]) =>
      (path: string) => {
        const connection = new Database(path);
        for (const statement of ['CREATE TABLE t (x)', ...statements]) connection.exec(statement);
        connection.close();
      };
    const newer = ['PRAGMA application_id = 0x70637331', 'PRAGMA user_version = 999'];
    const notes = (path: string) => writeFileSync(path, 'my notes, '.repeat(1_000));
    for (const [title, make, line] of [
      ['is no database', notes, 'is not a SQLite database.'],
      ['is a folder', mkdirSync, 'is a folder, not a SQLite database.'],
      [
        'was made by a newer version',
        database(...newer),
        `was made by a newer version of this service: its schema is 999, and this version knows up to ${MIGRATIONS.length}; install the newer version, or restore a backup of this one.`,
      ],
      ['belongs to another application', database(), 'is a database of another application.'],
    ] as const)
      it(`if it ${title}`, async () => {
        const path = join(where, `${title}.sqlite`);
        make(path);
        const content = () => (statSync(path).isFile() ? readFileSync(path, 'latin1') : '');
        const before = content();
        const expected = { code: 78, lines: [`${path} ${line}`] };
        expect(await failure({ SQLITE_FILE: path }, where)).to.deep.equal(expected);
        expect(content() === before).to.equal(true);
      });
  });

  it('waits no longer than it may for a file of SQLite whose folder cannot be created', async () => {
    const environment = { SQLITE_FILE: '/proc/a/b/c.sqlite', STORE_START_TIMEOUT_SECONDS: '1' };
    expect((await new ChildProcessService(folder(), environment).exit).code).to.equal(75);
  });
});
