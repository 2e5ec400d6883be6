/**
 * Fills the disk of SQLite and of PostgreSQL, locks that of SQLite, and lets writes and fsync fail with EIO and writes
 * with EROFS (strace). Writes are 503, the log quotes the reason of the store, reads go on, and nothing acknowledged is
 * lost after `kill -9`. It mounts small file systems (tmpfs), so it needs root.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { catalogue } from '../support/child-process-service.js';
import { concurrently } from '../support/concurrently.js';
import { jsonLines } from '../support/line-stream.js';
import { HAS_POSTGRESQL, PostgresqlServer } from '../support/postgresql-server.js';
import { needPythonSqlite } from '../support/python.js';
import { TEST_SEED } from '../support/run-settings.js';
import { SeededRandom } from '../support/seeded-random.js';
import { smallDisks } from '../support/small-disks.js';
import { until } from '../support/until.js';

const DESCRIPTION_LENGTH = 4_000;
/** The size of a file system that fills up, and more records than it holds. */
const SMALL_BYTES = 4 * 1_024 * 1_024;
const MOST_RECORDS = Math.floor(SMALL_BYTES / DESCRIPTION_LENGTH);

/** A store on a disk that fills up. */
interface FullDisk {
  /** Where the small file system is mounted. */
  readonly disk: string;
  /** The folder of the service. */
  readonly where: string;
  readonly settings: Record<string, string>;
  /** In the log of the service. */
  readonly reason: RegExp;
  /** In the output of `catalogue check`, afterwards. */
  readonly isHealthy: RegExp;
}

/** How a disk fails that breaks, or whose file system becomes read-only: system calls, and their error. */
const FAILURES = [
  ['write,pwrite64,pwritev', 'EIO'],
  ['fsync,fdatasync', 'EIO'],
  ['write,pwrite64,pwritev,ftruncate', 'EROFS'],
] as const;

/**
 * Lets system calls of a running process fail for some files, as a kernel with a broken disk does.
 * @returns a function that ends this
 */
async function failing(pid: number, calls: string, error: string, files: readonly string[]) {
  const strace = spawn(
    'strace',
    ['-f', '-p', `${pid}`, '-o', '/dev/null', '-e', `trace=${calls}`]
      .concat('-e', `inject=${calls}:error=${error}`)
      .concat(files.flatMap((file) => ['-P', file])),
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = once(strace, 'close');
  let output = '';
  strace.stderr.on('data', (chunk) => {
    output += chunk;
  });
  await Promise.race([
    until('strace is attached', () => /attached/.test(output)),
    ended.then(() => {
      throw new Error(`strace, which makes system calls fail, is missing or not allowed: ${output}`);
    }),
  ]);
  return async () => {
    strace.kill('SIGTERM');
    await ended;
  };
}

/** Locks the database as another program can, says so, and releases it at the end of its input. */
const LOCK = `import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute('BEGIN EXCLUSIVE'); print('locked', flush=True); sys.stdin.read(); db.execute('ROLLBACK')`;

describe('a disk that refuses writes', () => {
  const { totals, folder, start, mount, expectUnavailable, expectExactly } = smallDisks('disk');
  before(() => needPythonSqlite());

  const random = new SeededRandom(TEST_SEED);
  /** A text that no store can compress. */
  const description = () => {
    let text = 'lit';
    while (text.length < DESCRIPTION_LENGTH) text += ` ${random.below(2 ** 31).toString(36)}`;
    return text.slice(0, DESCRIPTION_LENGTH).trimEnd();
  };

  async function fillSqlite(): Promise<void> {
    const where = folder();
    const disk = join(where, 'data');
    mkdirSync(disk);
    mount(`size=${SMALL_BYTES}`, disk);
    const [reason, isHealthy] = [/database or disk is full/, /^ok +store +no damage was found/m];
    await fillDisk({ disk, where, settings: {}, reason, isHealthy });
  }

  /** The tables of PostgreSQL have a disk of their own, apart from its journal. */
  async function fillPostgresql(): Promise<void> {
    const server = await PostgresqlServer.start();
    try {
      const disk = join(server.folder, 'disk');
      mkdirSync(disk);
      const { uid, gid } = statSync(server.folder);
      mount(`size=${SMALL_BYTES},mode=700,uid=${uid},gid=${gid}`, disk);
      await server.query(`CREATE TABLESPACE small LOCATION '${disk}'`);
      const url = `${await server.createSchema()}%20-c%20default_tablespace%3Dsmall`;
      const settings = { STORE: 'postgresql', POSTGRESQL_URL: url };
      const [reason, isHealthy] = [/No space left on device/, /^ok +schema /m];
      await fillDisk({ disk, where: folder(), settings, reason, isHealthy });
    } finally {
      await server.kill();
    }
  }

  async function fillDisk({ disk, where, settings, reason, isHealthy }: FullDisk): Promise<void> {
    const first = await start(where, settings);
    const acknowledged = new Set<number>();
    let refusals = 0;
    const write = async () => {
      while (refusals < 40) {
        const response = await first.client.post('/products', {
          name: 'Lamp lit',
          description: description(),
        });
        if (response.status === 201) {
          expect(acknowledged.has(response.json.id), 'acknowledged twice').to.equal(false);
          acknowledged.add(response.json.id);
          expect(acknowledged.size, 'more acknowledged than fits').to.be.at.most(MOST_RECORDS);
        } else {
          expectUnavailable(response);
          refusals++;
        }
      }
    };
    await Promise.all(Array.from({ length: 8 }, write));
    // Small writes may still fit.
    const lines = Array.from({ length: MOST_RECORDS - acknowledged.size + 1 }, () =>
      JSON.stringify({ name: 'x', description: description() }),
    );
    const imported = await first.client.post('/products/imports', `${lines.join('\n')}\n`, {
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
    const results = jsonLines(imported.text);
    expect([imported.status, results.length]).to.deep.equal([200, lines.length]);
    for (const { status, id } of results) {
      if (status === 201 && id !== undefined) acknowledged.add(id);
      else expect(status).to.equal(503);
    }
    expect(results.some(({ status }) => status === 503)).to.equal(true);
    await expectExactly(first.client, acknowledged);
    expect((await first.client.get('/products?q=lamp&limit=1')).status).to.equal(200);
    expect((await first.client.get('/health/live', { token: null })).status).to.equal(200);
    await first.service.logs(reason);

    mount('remount,size=64m', disk);
    await until('a write succeeds when there is space again', async () => {
      const response = await first.client.post('/products', { name: 'after', description: description() });
      if (response.status === 201) acknowledged.add(response.json.id);
      return response.status === 201;
    });
    const filling = join(disk, 'filling');
    writeFileSync(filling, Buffer.alloc(8 * 1_024 * 1_024));
    totals.acknowledged += acknowledged.size;
    first.client.close();
    await first.service.stop('SIGKILL');
    const second = await start(where, settings);
    await expectExactly(second.client, acknowledged);
    const check = await catalogue(where, ['check'], settings);
    expect(check.out, check.err).to.match(isHealthy);
    second.client.close();
    await second.service.stop('SIGTERM');
  }

  async function lock(): Promise<void> {
    const where = folder();
    const { service, client } = await start(where);
    const before = await client.post('/products', { name: 'before' });
    expect(before.status).to.equal(201);
    const other = spawn('python3', ['-c', LOCK, join(where, 'data/catalogue.sqlite')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    try {
      await new Promise((locked) => other.stdout.once('data', locked));
      const writes = Promise.all(Array.from({ length: 20 }, () => client.post('/products', { name: 'while locked' })));
      expect((await client.get('/products')).json).to.have.length(1);
      for (const response of await writes) expectUnavailable(response);
    } finally {
      other.stdin.end();
    }
    await new Promise((released) => other.once('exit', released));
    const after = await client.post('/products', { name: 'after' });
    expect(after.status).to.equal(201);
    totals.acknowledged += 2;
    await service.logs(/database is locked/);
    await expectExactly(client, new Set([before.json.id, after.json.id]));
    client.close();
    await service.stop('SIGKILL');
  }

  async function failCalls(): Promise<void> {
    const where = folder();
    const { service, client } = await start(where);
    const database = join(where, 'data/catalogue.sqlite');
    const acknowledged = new Set<number>();
    const create = async () => {
      const response = await client.post('/products', { name: 'Lamp' });
      if (response.status === 201) acknowledged.add(response.json.id);
      return response;
    };
    await create();
    const reasons = () => service.log.match(/"message":"disk I\/O error"/g)?.length ?? 0;
    for (const [calls, error] of FAILURES) {
      const before = reasons();
      const heal = await failing(service.pid, calls, error, [database, `${database}-wal`]);
      try {
        for (const response of await Promise.all(Array.from({ length: 5 }, create))) expectUnavailable(response);
        const lines = `${JSON.stringify({ name: 'x' })}\n`.repeat(3);
        const headers = { 'Content-Type': 'application/x-ndjson' };
        const imported = await client.post('/products/imports', lines, { headers });
        expect(imported.text.match(/"status":503/g)).to.have.length(3);
        await expectExactly(client, acknowledged);
        expect((await client.get('/health/live', { token: null })).status).to.equal(200);
        await until('the log has the reason', () => reasons() > before);
      } finally {
        await heal();
      }
      await until('a write succeeds again', async () => (await create()).status === 201);
      await expectExactly(client, acknowledged);
    }
    totals.acknowledged += acknowledged.size;
    client.close();
    await service.stop('SIGKILL');
    const again = await start(where);
    await expectExactly(again.client, acknowledged);
    const check = await catalogue(where, ['check']);
    expect(check.out, check.err).to.match(/^ok +store +no damage was found/m);
    again.client.close();
    await again.service.stop('SIGTERM');
  }

  // Most of the time is spent in starts and in waiting.
  concurrently({
    'fills up: writes are 503, an import says so for each line, reads go on, and nothing acknowledged is lost':
      fillSqlite,
    ...(HAS_POSTGRESQL && {
      'fills up on the server of PostgreSQL: the same': fillPostgresql,
    }),
    'has a database that another program locks: writes are 503, reads go on': lock,
    'becomes read-only, or its calls fail: writes are 503, reads go on, and nothing acknowledged is lost': failCalls,
  });
});
