import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { LocalCa } from '#src/adapters/outbound/certificates/local-ca.js';
import { SystemClock } from '#src/adapters/outbound/system/clock.js';
import type { Diagnosis } from '#src/application/ports/diagnostics.js';
import { listen } from '#src/process/listen.js';
import { catalogue } from '../../../../support/child-process-service.js';
import { jsonLines } from '../../../../support/line-stream.js';
import { list } from '../../../../support/list.js';
import { temporaryFolder } from '../../../../support/temporary-folder.js';
import { runInProcess } from './run-command.js';

describe('catalogue check', () => {
  const root = temporaryFolder();
  const servers: Server[] = [];
  const folder = () => mkdtempSync(join(root, 'run-'));
  const ANY_PORT = { PORT: '0', MANAGEMENT_PORT: '0' };

  const check = async (where: string, environment: Record<string, string> = {}, ...args: string[]) => {
    const variables = { DATA_DIR: join(where, 'data'), ...ANY_PORT, ...environment };
    const { code, out, err } = await runInProcess(['check', '--json', ...args], variables);
    expect(err).to.equal('');
    const findings: Diagnosis[] = jsonLines(out);
    expect(code, out).to.equal(findings.some(({ verdict }) => verdict === 'wrong') ? 1 : 0);
    for (const { verdict, remedy } of findings) expect(remedy !== undefined).to.equal(verdict !== 'ok');
    return { code, findings };
  };
  const wrongIn = (findings: readonly Diagnosis[]) =>
    findings.filter(({ verdict }) => verdict === 'wrong').map(({ subject, message }) => `${subject}: ${message}`);
  const seeded = async () => {
    const where = folder();
    const end = await runInProcess(['seed', '--products', '20'], { DATA_DIR: join(where, 'data') });
    expect(end.code).to.equal(0);
    return where;
  };
  const createCertificates = async (where: string): Promise<string> => {
    const tls = join(where, 'data/tls');
    mkdirSync(dirname(tls), { recursive: true });
    await new LocalCa(tls, new SystemClock()).current();
    return tls;
  };
  const database = (where: string) => join(where, 'data/catalogue.sqlite');
  const change = (where: string, statements: string) => {
    const connection = new Database(database(where));
    connection.exec(statements);
    connection.close();
  };
  /** Every file with its content and its times; of the memory that connections share, the name. */
  const state = (where: string) =>
    readdirSync(where, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((name) => {
        if (name.endsWith('-shm')) return [name];
        const path = join(where, name);
        const stats = statSync(path);
        return [name, stats.mtimeMs, stats.isFile() ? readFileSync(path).toString('base64') : ''];
      });
  const respondingPort = async (status: number, headers: Record<string, string>): Promise<string> => {
    const server = createServer((_request, response) => response.writeHead(status, headers).end());
    servers.push(server);
    return `${await listen(server, '127.0.0.1', 0)}`;
  };
  after(() => {
    for (const server of servers) server.close();
  });

  it('finds nothing wrong before the first start, and creates nothing', async () => {
    const where = folder();
    const { code, findings } = await check(where);
    expect([code, readdirSync(where)]).to.deep.equal([0, []]);
    const subjects = new Set(findings.map(({ subject }) => subject));
    for (const subject of list`settings  DATA_DIR  store  certificate  Redis  clock  free space  permissions  ports`)
      expect([...subjects]).to.include(subject);
  });

  it('changes no byte of a database and of certificates, with --deep neither', async () => {
    const where = folder();
    // In another process: this one would delete the log whenever its garbage collector finds the statements of the seed.
    expect((await catalogue(where, ['seed', '--products', '20'])).code).to.equal(0);
    await createCertificates(where);
    const before = state(where);
    for (const args of [[], ['--deep']]) {
      const { code, findings } = await check(where, {}, ...args);
      expect(code, JSON.stringify(findings)).to.equal(0);
      expect(findings.map(({ message }) => message)).to.include('it holds localhost, 127.0.0.1, ::1');
      expect(findings.map(({ subject }) => subject)).to.include('indexes');
    }
    expect(state(where)).to.deep.equal(before);
  });

  it('prints a line for each finding, and what to do', async () => {
    const where = folder();
    const { code, out } = await runInProcess(['check'], { ...ANY_PORT, DATA_DIR: join(where, 'x'), STORE: 'memory' });
    expect(code).to.equal(0);
    expect(out)
      .to.match(/^ok {7}settings {6}all \d+ are valid \(from a file or the environment: 4\)$/m)
      .and.to.match(/^warning {2}store .*\n +To do: set STORE to /m);
  });

  it('reports every wrong setting, and misspelt variables', async () => {
    const { code, findings } = await check(folder(), { PORT: 'x', TLS: 'y', RATE_LIMIT_REQUEST: '1' });
    expect(code).to.equal(1);
    expect(wrongIn(findings).map((line) => line.split(' ', 2)[1])).to.deep.equal(['PORT', 'TLS']);
    expect(findings.find(({ verdict }) => verdict === 'warning')?.message).to.include('RATE_LIMIT_REQUESTS');
    const key = await check(folder(), { BOOTSTRAP_API_KEY: 'hunter2' });
    expect(wrongIn(key.findings)).to.deep.equal([
      'settings: BOOTSTRAP_API_KEY must be a well-formed key, as catalogue keys generate prints one; it is "***"',
    ]);
  });

  it('finds what is wrong with a database', async () => {
    const where = await seeded();
    change(
      where,
      `INSERT INTO webhooks (id, record_version, created_at, updated_at, fields)
        VALUES (7, 1, 0, 0, '{"resources":["baskets"],"createdBy":1}')`,
    );
    expect(wrongIn((await check(where)).findings)).to.deep.equal([
      'webhooks: record 7 is stored with values that this release does not know: url, resources, secret, starts',
    ]);
    const broken = "UPDATE products SET fields = '{' WHERE id = 3";
    change(where, `UPDATE products SET "stock" = 7654321 WHERE id = 2; ${broken}; DELETE FROM webhooks`);
    expect(wrongIn((await check(where)).findings)).to.deep.equal([]);
    expect(wrongIn((await check(where, {}, '--deep')).findings)).to.deep.equal([
      'store: the columns of record 2 of products differ from its fields; so do 1 others',
    ]);
    change(where, 'PRAGMA application_id = 7');
    expect(wrongIn((await check(where)).findings)[0]).to.match(/^store: .* is a database of another application$/);
    const SQLITE_FILE = join(where, 'notes.txt');
    writeFileSync(SQLITE_FILE, 'notes, '.repeat(1_000));
    expect(wrongIn((await check(where, { SQLITE_FILE })).findings)[0]).to.match(/^store: .* is not a SQLite database$/);
  });

  it('finds damage', async () => {
    const where = folder();
    const [live, file] = [join(where, 'live.sqlite'), join(where, 'copy.sqlite')];
    await runInProcess(['seed', '--products', '2000'], { SQLITE_FILE: live });
    await runInProcess(['backup', file], { SQLITE_FILE: live });
    writeFileSync(file, readFileSync(file).fill(0xff, 200_000, 260_000));
    expect(wrongIn((await check(where, { SQLITE_FILE: file })).findings).join()).to.match(
      /store: the database is damaged|indexes/i,
    );
  });

  it('finds a clock that was set back', async () => {
    const where = await seeded();
    change(where, `UPDATE products SET updated_at = ${Date.now() + 3_600_000} WHERE id = 1`);
    expect(wrongIn((await check(where)).findings)[0]).to.match(
      /^clock: the newest record is 3[56]\d\d\.\d s in the future$/,
    );
  });

  it('finds secrets that everybody can read, and certificates that do not fit', async () => {
    const where = folder();
    const tls = await createCertificates(where);
    chmodSync(join(tls, 'ca-key.pem'), 0o644);
    expect(wrongIn((await check(where)).findings)[0]).to.match(/^permissions: every user .*ca-key\.pem/);
    const named = await check(where, { TLS_NAMES: 'shop.example' });
    expect(named.findings.find(({ subject }) => subject === 'certificate')?.message).to.equal('it lacks shop.example');
    const other = folder();
    await createCertificates(other);
    writeFileSync(join(other, 'data/tls/ca.pem'), readFileSync(join(tls, 'ca.pem')));
    expect(wrongIn((await check(other)).findings)[0]).to.match(/^certificate: server\.pem .* is of another CA$/);
    const files = { TLS: 'files', TLS_CERT_FILE: join(tls, 'ca.pem'), TLS_KEY_FILE: join(tls, 'none.pem') };
    expect(wrongIn((await check(folder(), files)).findings)[0]).to.match(/^certificate: TLS_KEY_FILE: .*no such file/);
  });

  it('finds a service that is not ready, and tells ports of others from it', async () => {
    const headers = { 'X-Request-Id': 'x' };
    const notReady = await check(folder(), { MANAGEMENT_PORT: await respondingPort(503, headers) });
    expect(wrongIn(notReady.findings)).to.deep.equal([
      'ports: a service runs on the management port, and is not ready',
    ]);
    const ready = await check(folder(), { MANAGEMENT_PORT: await respondingPort(200, headers) });
    expect(ready.findings.at(-1)?.message).to.equal('a service runs on the management port, and is ready');
    const MANAGEMENT_PORT = await respondingPort(200, {});
    const foreign = await check(folder(), { MANAGEMENT_PORT });
    expect(foreign.findings.at(-1)?.message).to.equal(
      `another program listens on MANAGEMENT_PORT, 127.0.0.1:${MANAGEMENT_PORT}`,
    );
  });

  it('names a DATA_DIR in which no file can be created', async () => {
    const where = folder();
    writeFileSync(join(where, 'data'), '');
    expect(wrongIn((await check(where)).findings)[0]).to.equal(`DATA_DIR: ${join(where, 'data')} is a file`);
  });
});
