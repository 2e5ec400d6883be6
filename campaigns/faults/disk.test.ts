/**
 * Fills the disk of a running service, and that of the journal of PostgreSQL. Tears the write-ahead log of SQLite,
 * damages its database and puts other files in its place. Every creation whose commit ends before the tear is there, and
 * none behind it. Damage is refused with exit code 78 at the start or with 503 when it is read, and never shown as data.
 * It mounts small file systems (tmpfs), so it needs root.
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import Database from 'libsql';
import { ChildProcessService, CLI, catalogue, MAIN } from '../../tests/support/child-process-service.js';
import { concurrently } from '../../tests/support/concurrently.js';
import { figuresOf } from '../../tests/support/figure.js';
import { freePort } from '../../tests/support/free-port.js';
import { HttpClient } from '../../tests/support/http-client.js';
import { FIRST_KEY } from '../../tests/support/in-process-service.js';
import { HAS_POSTGRESQL, PostgresqlServer } from '../../tests/support/postgresql-server.js';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import { smallDisks } from '../../tests/support/small-disks.js';
import { until } from '../../tests/support/until.js';
import { everyProduct } from '../../tests/support/workers.js';

const figure = figuresOf('disk');

const LOST = /"msg":"files of the store were deleted, moved, replaced or damaged/;

const WAL = 'catalogue.sqlite-wal';
const WAL_HEADER_BYTES = 32;
/** Fewer rows than the service collects before it copies the log into the database. */
const KILLED_COMMITS = 40;

/** A record, and the size of the log after its creation was acknowledged. */
interface Commit {
  readonly id: number;
  readonly end: number;
}

/** 50 products, and 300 lines whose results are large. */
const CUT_IMPORT = [
  ...Array.from({ length: 50 }, (_, at) => JSON.stringify({ name: `of the import ${at}` })),
  ...Array(300).fill(JSON.stringify(Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`x${at}`, 1])))),
].join('\n');
const CUT_KEY = 'cut-off';

describe('the disk', function () {
  this.timeout(300_000);
  const { running, totals, folder, start, mount, expectUnavailable, expectExactly } = smallDisks('disk');
  let damages = 0;
  after(() => figure('damaged', damages));

  /** Sends an import and reads no result, until the results fill the buffers of the kernel, the memory and the disk. */
  async function cutOff(service: ChildProcessService, client: HttpClient): Promise<void> {
    const socket = await client.connect();
    socket.on('error', () => {});
    const closed = new Promise((done) => socket.once('close', done));
    const fields = [
      `Authorization: Bearer ${FIRST_KEY}`,
      `Idempotency-Key: ${CUT_KEY}`,
      'Content-Type: application/x-ndjson',
      `Content-Length: ${Buffer.byteLength(CUT_IMPORT)}`,
    ].join('\r\n');
    socket.write(`POST /v1/products/imports HTTP/1.1\r\nHost: x\r\n${fields}\r\n\r\n${CUT_IMPORT}`);
    await service.logs(/ENOSPC/);
    // What was sent before ends without the last chunk, so that the client knows that results are missing.
    let text = '';
    socket.on('data', (data) => {
      text += data;
    });
    await closed;
    expect(text).to.not.match(/\r\n0\r\n\r\n$/);
    expect((await client.get('/products/1')).status, 'others are served').to.equal(200);
  }

  async function fillSpool(): Promise<void> {
    const where = folder();
    const spool = join(where, 'data');
    mkdirSync(spool);
    mount('size=2m', spool);
    const { service, client } = await start(where, { SQLITE_FILE: join(where, 'elsewhere.sqlite') });
    writeFileSync(join(spool, 'filling'), Buffer.alloc(1_000));
    const { status } = spawnSync('sh', ['-c', `cat /dev/zero > '${join(spool, 'filling')}'`]);
    expect(status).to.not.equal(0);
    const lines = Array.from({ length: 200 }, (_, i) => JSON.stringify({ name: `${i}` })).join('\n');
    const imported = await client.post('/products/imports', lines, {
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
    const created = imported.text.split('\n').filter((line) => line.includes('201'));
    expect(created, 'results that fit into memory need no file').to.have.length(200);
    expect((await everyProduct(client)).size).to.equal(200);
    totals.acknowledged += 200;
    await cutOff(service, client);
    mount('remount,size=64m', spool);
    const key = { headers: { 'Content-Type': 'application/x-ndjson', 'Idempotency-Key': CUT_KEY } };
    const repeated = await client.post('/products/imports', CUT_IMPORT, key);
    expect(repeated.text.split('\n').filter((line) => line.includes('"status":201'))).to.have.length(50);
    expect((await everyProduct(client)).size, 'no line doubled').to.equal(250);
    totals.acknowledged += 50;
    client.close();
    await service.stop('SIGKILL');
    // The certificate is there already.
    const again = await start(where, { SQLITE_FILE: join(where, 'elsewhere.sqlite') });
    expect((await everyProduct(again.client)).size).to.equal(250);
    again.client.close();
    await again.service.stop('SIGTERM');
  }

  async function refuseReadOnly(): Promise<void> {
    const where = folder();
    const data = join(where, 'data');
    mkdirSync(data);
    mount('size=1m,ro', data);
    const started = new ChildProcessService(where);
    expect((await started.exit).code).to.equal(78);
    expect(started.log.split('\n').filter((line) => line && !line.startsWith('{'))).to.deep.equal([
      `DATA_DIR: no file can be created in ${data}: read-only file system (EROFS).`,
    ]);
    const store = new ChildProcessService(where, {
      DATA_DIR: 'other',
      SQLITE_FILE: join(data, 'x.sqlite'),
      STORE_START_TIMEOUT_SECONDS: '1',
    });
    expect((await store.exit).code).to.equal(75);
    expect(store.log).to.include('x.sqlite cannot be opened');
    const full = folder();
    mkdirSync(join(full, 'tiny'));
    mount('size=8k', join(full, 'tiny'));
    const tiny = new ChildProcessService(full, { DATA_DIR: 'tiny', STORE_START_TIMEOUT_SECONDS: '1' });
    const { code } = await tiny.exit;
    expect([75, 78], tiny.log).to.include(code);
    expect(tiny.out).to.not.include('pcs_');
  }

  /**
   * A store whose service was killed: the database and a log of which nothing is copied into the database. What is
   * copied cannot tear, because it is synchronised before.
   */
  async function killedStore(): Promise<{ where: string; commits: Commit[] }> {
    const where = folder();
    expect((await catalogue(where, ['seed', '--products', '600'])).code).to.equal(0);
    const { service, client } = await start(where);
    const database = join(where, 'data', 'catalogue.sqlite');
    const before = readFileSync(database);
    const commits: Commit[] = [];
    for (let i = 0; i < KILLED_COMMITS; i++) {
      const { json } = await client.post('/products', { name: `new ${i}` });
      const end = statSync(join(where, 'data', WAL)).size;
      expect(end, 'the log grows with each commit').to.be.greaterThan(commits.at(-1)?.end ?? 0);
      commits.push({ id: json.id, end });
    }
    client.close();
    await service.stop('SIGKILL');
    expect(readFileSync(database).equals(before), 'nothing is copied into the database').to.equal(true);
    return { where, commits };
  }

  const copyOf = (where: string, files: readonly string[]): string => {
    const copy = folder();
    mkdirSync(join(copy, 'data'));
    for (const file of files) copyFileSync(join(where, 'data', file), join(copy, 'data', file));
    return copy;
  };

  async function tearLog(): Promise<void> {
    const { where, commits } = await killedStore();
    const { size } = statSync(join(where, 'data', WAL));
    const random = new SeededRandom(4_711);
    const tears = Array.from({ length: 6 }, () => WAL_HEADER_BYTES + random.below(size - WAL_HEADER_BYTES));
    const kept = await Promise.all(
      tears.map(async (at, number) => {
        const copy = copyOf(where, ['catalogue.sqlite', WAL]);
        const file = join(copy, 'data', WAL);
        if (number % 2 === 0) truncateSync(file, at);
        else {
          const bytes = readFileSync(file);
          bytes.fill(0xa5, at, Math.min(at + 512, size));
          writeFileSync(file, bytes);
        }
        const { service, client } = await start(copy);
        const found = await everyProduct(client);
        expect(found.size, 'the samples are older than the tear').to.be.at.least(600);
        const there = commits.map(({ id }) => found.has(id));
        const before = commits.map(({ end }) => end <= at);
        // Of the commit at the tear, only the end of a later write to the log may be missing.
        const torn = before.indexOf(false);
        if (torn >= 0) before[torn] = there[torn] === true;
        expect(there, `the commits with a tear at byte ${at} of ${size}`).to.deep.equal(before);
        damages++;
        client.close();
        await service.stop('SIGKILL');
        return there;
      }),
    );
    expect(
      kept.some((there) => there.includes(true) && there.includes(false)),
      'a tear between two commits',
    ).to.equal(true);
  }

  async function damage(): Promise<void> {
    const where = folder();
    expect((await catalogue(where, ['seed', '--products', '1500'])).code).to.equal(0);
    const name = 'catalogue.sqlite';
    const original = readFileSync(join(where, 'data', name));
    const pageBytes = original.readUInt16BE(16);
    const noise = new SeededRandom(7);
    const damaged = (change: (bytes: Buffer) => Buffer) => {
      const copy = folder();
      mkdirSync(join(copy, 'data'));
      const file = join(copy, 'data', name);
      writeFileSync(file, change(Buffer.from(original)));
      damages++;
      return { copy };
    };
    const refuses = async ({ copy }: { copy: string }, reason: RegExp) => {
      const service = new ChildProcessService(copy, { BOOTSTRAP_API_KEY: FIRST_KEY });
      const { code } = await service.exit;
      const lines = service.log.split('\n').filter((line) => line && !line.startsWith('{'));
      expect([code, lines.length], service.log).to.deep.equal([78, 1]);
      expect(lines[0]).to.match(reason);
    };
    /** Starts it and reads everything. Damage is refused, at the start or when it is read, and never shown as data. */
    const serves = async ({ copy }: { copy: string }) => {
      const service = new ChildProcessService(copy, { BOOTSTRAP_API_KEY: FIRST_KEY });
      running.push(service);
      const client = await service.started(FIRST_KEY).catch(() => undefined);
      if (!client) {
        const { code } = await service.exit;
        const lines = service.log.split('\n').filter((line) => line && !line.startsWith('{'));
        expect([code, lines.length, lines[0]?.startsWith('The database is damaged')], service.log).to.deep.equal([
          78,
          1,
          true,
        ]);
        return true;
      }
      let isRefused = false;
      for (const path of ['/products?limit=1000', '/products?sort=name&limit=1000', '/products?sort=-id'])
        for (const _ of [1, 2]) {
          const { status, json } = await client.get(path);
          expect([200, 503], path).to.include(status);
          if (status === 503) isRefused = true;
          else for (const product of json) expect(product.name).to.be.a('string');
        }
      if (isRefused) {
        await service.logs(LOST);
        expectUnavailable(await client.post('/products', { name: 'x' }));
        expect((await client.get('/health/ready', { token: null })).status).to.equal(503);
      }
      client.close();
      await service.stop('SIGKILL');
      const check = await catalogue(copy, ['check']);
      expect([check.code, /damaged/.test(check.out)], check.out).to.deep.equal([1, true]);
      return isRefused;
    };
    const page = (number: number) => (bytes: Buffer) => {
      for (let at = 0; at < pageBytes; at++) bytes[(number - 1) * pageBytes + at] = noise.below(256);
      return bytes;
    };
    const pages = original.length / pageBytes;
    const [, refused] = await Promise.all([
      Promise.all([
        refuses(
          damaged((bytes) => bytes.fill(0, 0, 100)),
          /is not a SQLite database\.$/,
        ),
        refuses(
          damaged((bytes) => bytes.fill(0xff, 100, pageBytes)),
          /damaged|not a SQLite database/,
        ),
      ]),
      Promise.all([
        serves(damaged(page(Math.floor(pages / 3)))),
        serves(damaged(page(Math.floor(pages / 2)))),
        serves(damaged((bytes) => bytes.subarray(0, Math.floor(pages / 2) * pageBytes))),
      ]),
    ]);
    expect(refused.includes(true), 'a read met the damage').to.equal(true);
  }

  async function refuseNoFile(): Promise<void> {
    const where = folder();
    const fifo = join(where, 'pipe.sqlite');
    expect(spawnSync('mkfifo', [fifo]).status).to.equal(0);
    const environment = { SQLITE_FILE: fifo };
    const line = `${fifo} is a pipe or a device, not a SQLite database.`;
    const service = new ChildProcessService(where, environment);
    const [{ code }, keys, backup, check] = await Promise.all([
      service.exit,
      catalogue(where, ['keys', 'list'], environment),
      catalogue(where, ['backup', 'b.sqlite'], environment),
      catalogue(where, ['check'], environment),
    ]);
    const lines = service.log.split('\n').filter((text) => text && !text.startsWith('{'));
    expect([code, lines]).to.deep.equal([78, [line]]);
    for (const command of [keys, backup]) expect([command.code, command.err]).to.deep.equal([78, `${line}\n`]);
    expect([check.code, check.out.includes('is a pipe or a device')]).to.deep.equal([1, true]);

    // An empty file is an empty database.
    const empty = join(where, 'empty.sqlite');
    writeFileSync(empty, '');
    const { service: served, client } = await start(where, { SQLITE_FILE: empty });
    expect((await client.post('/products', { name: 'x' })).status).to.equal(201);
    client.close();
    await served.stop('SIGTERM');
  }

  async function fillOutput(): Promise<void> {
    const where = folder();
    const PORT = `${await freePort()}`;
    const service = new ChildProcessService(
      where,
      { BOOTSTRAP_API_KEY: FIRST_KEY, PORT, LOG_LEVEL: 'trace' },
      ['-c', `exec '${process.execPath}' '${MAIN}' >/dev/full 2>/dev/full`],
      'sh',
    );
    running.push(service);
    const authority = join(where, 'data/tls/ca.pem');
    const isReady = async () => {
      const client = new HttpClient(Number(PORT), authority, FIRST_KEY);
      return (await client.get('/health/ready', { token: null })).status === 200;
    };
    await until('it is ready', isReady);
    const client = new HttpClient(Number(PORT), authority, FIRST_KEY);
    const acknowledged = new Set<number>();
    for (let i = 0; i < 300; i++) {
      const { status, json } = await client.post('/products', { name: 'Lamp' });
      expect(status).to.equal(201);
      acknowledged.add(json.id);
    }
    totals.acknowledged += acknowledged.size;
    await expectExactly(client, acknowledged);
    client.close();
    expect(await service.stop('SIGTERM')).to.deep.equal({ code: 0, signal: null });
  }

  async function killBackup(): Promise<void> {
    const where = folder();
    expect((await catalogue(where, ['seed', '--products', '5000'])).code).to.equal(0);
    const partials = () => readdirSync(where).filter((name) => name.endsWith('.partial'));
    // The backup waits for a database that another process keeps for itself.
    const holder = new Database(join(where, 'data/catalogue.sqlite'));
    holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    const killed = new ChildProcessService(where, {}, [CLI, 'backup', 'b.sqlite']);
    await until('the backup has begun', () => partials().length === 1);
    await killed.stop('SIGKILL');
    holder.close();
    expect(partials()).to.have.length(1);
    expect(existsSync(join(where, 'b.sqlite'))).to.equal(false);
    writeFileSync(join(where, 'b.sqlite.notes.partial'), 'of somebody else');
    const { code, err } = await catalogue(where, ['backup', 'b.sqlite']);
    expect(code, err).to.equal(0);
    expect(partials()).to.deep.equal(['b.sqlite.notes.partial']);

    const small = join(where, 'small');
    mkdirSync(small);
    mount('size=1m', small);
    const full = await catalogue(where, ['backup', 'small/b.sqlite']);
    expect([full.code, full.err]).to.deep.equal([
      73,
      `${join(small, 'b.sqlite')} cannot be written: no space left on device (ENOSPC).\n`,
    ]);
    expect(readdirSync(small)).to.deep.equal([]);
  }

  async function fillJournal(): Promise<void> {
    const server = await PostgresqlServer.start();
    try {
      const disk = join(server.folder, 'disk');
      const filling = join(disk, 'filling');
      const { uid, gid } = statSync(server.folder);
      await server.stop();
      mkdirSync(disk);
      mount(`size=80m,mode=700,uid=${uid},gid=${gid}`, disk);
      const journal = join(server.folder, 'data/pg_wal');
      expect(spawnSync('cp', ['-a', journal, disk]).status).to.equal(0);
      rmSync(journal, { recursive: true });
      symlinkSync(join(disk, 'pg_wal'), journal);
      // It neither keeps files of its journal nor makes them ahead.
      const run = () => server.run(['min_wal_size=32MB', 'max_wal_size=32MB', 'wal_recycle=off']);
      await run();
      const settings = { STORE: 'postgresql', POSTGRESQL_URL: server.url() };
      const { service, client } = await start(folder(), settings);
      const acknowledged = new Set<number>();
      const write = async () => {
        const response = await client.post('/products', { name: 'Lamp', description: 'x'.repeat(4_000) });
        if (response.status === 201) acknowledged.add(response.json.id);
        else expectUnavailable(response);
        return response.status;
      };
      for (let i = 0; i < 100; i++) await write();
      expect(acknowledged).to.have.length(100);
      expect(spawnSync('sh', ['-c', `cat /dev/zero > '${filling}'`]).status).to.not.equal(0);
      await until('the journal is full', async () => {
        await server.query('SELECT pg_switch_wal()').catch(() => {});
        return (await write()) === 503;
      });
      await until('the service is not ready', async () => {
        return (await client.get('/health/ready', { token: null })).status === 503;
      });
      expect((await client.get('/health/live', { token: null })).status).to.equal(200);
      rmSync(filling);
      // It may have ended, or start by itself again and again.
      await server.kill();
      await run();
      await until('a write succeeds when there is space again', async () => (await write()) === 201);
      totals.acknowledged += acknowledged.size;
      await expectExactly(client, acknowledged);
      client.close();
      expect(await service.stop('SIGTERM')).to.deep.equal({ code: 0, signal: null });
    } finally {
      await server.kill();
    }
  }

  // Most of the time is spent in starts and in waiting.
  concurrently({
    'has no space for the results of imports: large ones are cut off, and can be repeated': fillSpool,
    'is read-only or too small at the start': refuseReadOnly,
    'has a log that is torn at any byte: commits before the tear stay': tearLog,
    'has a damaged database': damage,
    'has no file where the database should be': refuseNoFile,
    'is full for the log and the messages: requests go on': fillOutput,
    'has the rest of a killed backup, or no space for one': killBackup,
    ...(HAS_POSTGRESQL && {
      'is full for the journal of PostgreSQL: the server ends, and serves again when there is space': fillJournal,
    }),
  });
});
