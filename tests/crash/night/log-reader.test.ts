import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { constants, mkdtempSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { ChildProcessService, refusesConnections, SERVICE } from '../../support/child-process-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';
import { isAlive, logged } from '../../support/workers.js';

/** Their lines are more than a pipe and the stream of the reader hold. */
const REQUESTS = 1_000;
const LONG_ID = 'x'.repeat(128);
/** A flush waits so long in any case. */
const MIN_FLUSH_MS = 2_000;

describe('the reader of the log', () => {
  const root = temporaryFolder();
  const running: ChildProcessService[] = [];
  const readers: Socket[] = [];
  const start = (where: string, environment: Record<string, string>, command: string) => {
    const program = ['-c', command, process.execPath, ...SERVICE];
    const service = new ChildProcessService(where, environment, program, 'sh');
    running.push(service);
    return service;
  };
  /** Starts a service, stops the reading of its log, and makes it write more than the way to the reader holds. */
  const startUnread = async (WORKERS: string, SHUTDOWN_GRACE_SECONDS: string) => {
    const where = mkdtempSync(join(root, 'run-'));
    execFileSync('mkfifo', [join(where, 'pipe')]);
    const descriptor = openSync(join(where, 'pipe'), constants.O_RDONLY | constants.O_NONBLOCK);
    const reader = new Socket({ fd: descriptor, readable: true, writable: false });
    readers.push(reader);
    const service = start(where, { WORKERS, SHUTDOWN_GRACE_SECONDS }, 'exec "$0" "$@" 2>pipe');
    reader.on('data', (chunk) => {
      service.log += chunk;
    });
    const client = await service.started();
    client.documented = undefined;
    await until('every process serves', () => logged(service, 'started').length === Number(WORKERS));
    const pids = [service.pid, ...logged(service, 'started').map(({ pid }) => pid)];
    reader.pause();
    const headers = { 'X-Request-Id': LONG_ID };
    await Promise.all(Array.from({ length: REQUESTS }, () => client.get('/products', { headers })));
    client.close();
    return { service, pids, reader };
  };
  afterEach(async () => {
    // A process that waits for its reader would not end.
    for (const reader of readers.splice(0)) reader.destroy();
    for (const service of running.splice(0)) await service.stop('SIGKILL');
  });

  for (const WORKERS of ['1', '2'])
    describe(`of ${WORKERS === '1' ? 'one process' : 'two workers'}`, () => {
      it('gets every line at a clean stop, also if it reads late', async () => {
        const { service, reader } = await startUnread(WORKERS, '3600');
        const managementPort = await service.managementPort();
        service.kill('SIGTERM');
        await until('the last port is closed, and only the log is left', () => refusesConnections(managementPort));
        const closedAt = performance.now();
        await until('it has waited for longer than it does without a grace', () => {
          return performance.now() - closedAt > 1.25 * MIN_FLUSH_MS;
        });
        await once(reader.resume(), 'close');
        expect(await service.exit).to.deep.equal({ code: 0, signal: null });
        expect(logged(service, 'request')).to.have.length(REQUESTS);
        expect(logged(service, 'stopped')).to.have.length(Number(WORKERS));
      });

      it('does not keep the process if it reads nothing', async () => {
        const { service, pids, reader } = await startUnread(WORKERS, '0');
        service.kill('SIGTERM');
        await until('no process is left', () => !pids.some(isAlive));
        reader.destroy();
        expect(await service.exit).to.deep.equal({ code: 0, signal: null });
      });
    });

  it('may be absent: the service keeps serving and stops normally if its log cannot be written', async () => {
    // Standard error is open for reading only, so every write fails.
    const service = start(mkdtempSync(join(root, 'run-')), {}, 'exec "$0" "$@" 2</dev/null');
    const client = await service.started();
    for (let i = 0; i < 50; i++) expect((await client.get('/products')).status).to.equal(200);
    client.close();
    expect((await service.stop()).code).to.equal(0);
  });
});
