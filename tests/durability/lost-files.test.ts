import { cpSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Acknowledged } from '../support/acknowledged.js';
import { CrashService } from '../support/crash-service.js';
import { COMMANDS, run } from '../support/programs.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const LOST =
  'files of the store were deleted, moved, replaced or damaged while the service runs; writes are refused. Export what can be read. Then stop the service, restore a backup, and start it';
const WORKERS = 2;
const NDJSON = { headers: { Accept: 'application/x-ndjson' } };

/** `tests/cases/sqlite-lost-files.test.ts` plays every kind of loss, in one process. */
describe('a service whose files an operator replaces by a backup while it runs', () => {
  const folder = temporaryFolder();
  let service: CrashService | undefined;
  after(() => service?.end('SIGKILL'));

  it('refuses writes, shows what it can read, logs this once in each process, and loses nothing', async () => {
    const running = await CrashService.start(folder, WORKERS);
    service = running;
    const acknowledged = new Acknowledged();
    await acknowledged.createProducts(running);
    await run(folder, 'backup', 'backup.sqlite');
    mkdirSync(join(folder, 'old'));
    for (const suffix of ['', '-wal', '-shm'])
      renameSync(join(folder, `data/catalogue.sqlite${suffix}`), join(folder, `old/catalogue.sqlite${suffix}`));
    cpSync(join(folder, 'backup.sqlite'), join(folder, 'data/catalogue.sqlite'));

    const statuses = async (path: string, options = {}) =>
      (await running.spread((client) => client.get(path, options))).map(({ status }) => status);
    for (let round = 0; round < 2; round++)
      for (const { status, json } of await running.spread((client) => client.post('/products', { name: 'x' })))
        expect([status, json.code]).to.deep.equal([503, 'unavailable']);
    expect(await statuses('/health/ready')).to.deep.equal([503, 503]);
    expect(await statuses('/health/live')).to.deep.equal([200, 200]);
    for (const { status, text } of await running.spread((client) => client.get('/products', NDJSON)))
      expect([status, text.split('\n').length - 1]).to.deep.equal([200, acknowledged.products.size]);
    await until('each process logs the loss', () => running.logged(LOST).length >= WORKERS);
    await COMMANDS['keys create']?.(running, acknowledged);
    await running.end('SIGTERM');
    expect(running.logged(LOST).map(({ pid }) => pid)).to.have.members(running.pids);

    service = await CrashService.start(folder, 1, running.token);
    await acknowledged.expectAllIn(service);
    await acknowledged.createProducts(service);
  });
});
