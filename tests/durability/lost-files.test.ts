/** Deletes, moves and replaces the files of a running service on SQLite. */
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Acknowledged } from '../support/acknowledged.js';
import { concurrently } from '../support/concurrently.js';
import { CrashService } from '../support/crash-service.js';
import { COMMANDS, run } from '../support/programs.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const LOST =
  'files of the store were deleted, moved, replaced or damaged while the service runs; writes are refused. Export what can be read. Then stop the service, restore a backup, and start it';

const NDJSON = { headers: { Accept: 'application/x-ndjson' } };

interface Loss {
  readonly workers: number;
  /** Whether it finds a backup in `backup.sqlite`. */
  readonly needsBackup?: true;
  /** Removes or replaces files. */
  lose(folder: string): void;
  /** Restores the files for the next start, if it would not find them. */
  putBack?(folder: string): void;
  readonly signal: 'SIGTERM' | 'SIGKILL';
}

const FILES = ['catalogue.sqlite', 'catalogue.sqlite-wal', 'catalogue.sqlite-shm'];

function move(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const file of FILES) renameSync(join(from, file), join(to, file));
}

const LOSSES: Readonly<Record<string, Loss>> = {
  'the shared memory is deleted': {
    workers: 2,
    lose: (folder) => rmSync(join(folder, 'data/catalogue.sqlite-shm')),
    signal: 'SIGTERM',
  },
  'the database is deleted': {
    workers: 1,
    needsBackup: true,
    lose: (folder) => rmSync(join(folder, 'data/catalogue.sqlite')),
    putBack: (folder) => {
      for (const file of FILES) rmSync(join(folder, 'data', file), { force: true });
      cpSync(join(folder, 'backup.sqlite'), join(folder, 'data/catalogue.sqlite'));
    },
    signal: 'SIGKILL',
  },
  'a backup is restored while the service runs': {
    workers: 1,
    needsBackup: true,
    lose: (folder) => {
      move(join(folder, 'data'), join(folder, 'old'));
      cpSync(join(folder, 'backup.sqlite'), join(folder, 'data/catalogue.sqlite'));
    },
    signal: 'SIGTERM',
  },
  'the files are moved and later moved back': {
    workers: 1,
    lose: (folder) => move(join(folder, 'data'), join(folder, 'old')),
    putBack: (folder) => move(join(folder, 'old'), join(folder, 'data')),
    signal: 'SIGTERM',
  },
};

describe('a service whose files are lost while it runs', () => {
  const root = temporaryFolder();
  const running: CrashService[] = [];
  after(async () => {
    for (const service of running) await service.end('SIGKILL');
  });

  const start = async (folder: string, workers: number, token?: string) => {
    const service = await CrashService.start(folder, workers, token);
    running.push(service);
    return service;
  };
  const play = async (folder: string, { workers, needsBackup, lose, putBack, signal }: Loss): Promise<void> => {
    const service = await start(folder, workers);
    const acknowledged = new Acknowledged();
    await acknowledged.createProducts(service);
    if (needsBackup) await run(folder, 'backup', 'backup.sqlite');

    lose(folder);
    for (let round = 0; round < 2; round++) {
      for (const { status, json } of await service.spread((client) => client.post('/products', { name: 'x' })))
        expect([status, json.code]).to.deep.equal([503, 'unavailable']);
    }
    for (const { status } of await service.spread((client) => client.get('/health/ready')))
      expect(status).to.equal(503);
    for (const { status } of await service.spread((client) => client.get('/health/live'))) expect(status).to.equal(200);
    for (const { status, text } of await service.spread((client) => client.get('/products', NDJSON)))
      expect([status, text.split('\n').length - 1]).to.deep.equal([200, acknowledged.products.size]);
    await until('each process logs the loss', () => service.logged(LOST).length >= workers);
    expect(service.logged(LOST).map(({ pid }) => pid)).to.have.members(service.pids);

    putBack?.(folder);
    await COMMANDS['keys create']?.(service, acknowledged);
    await service.end(signal);
    expect(service.logged(LOST)).to.have.length(workers);
    const restarted = await start(folder, 1, service.token);
    await acknowledged.expectAllIn(restarted);
    await acknowledged.createProducts(restarted);
  };

  // Most of the time is spent in starts.
  concurrently(
    Object.fromEntries(
      Object.entries(LOSSES).map(([what, loss]) => [
        `refuses writes, logs this once in each process, and loses nothing: ${what}`,
        () => play(mkdtempSync(join(root, 'store-')), loss),
      ]),
    ),
  );
});
