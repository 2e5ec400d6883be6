/** Runs the commands of docs/how-to/backup.md as printed there, and sends signals during a backup. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ChildProcessService, CLI } from '../../tests/support/child-process-service.js';
import { CrashService } from '../../tests/support/crash-service.js';
import { run } from '../../tests/support/programs.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';
import { everyProduct, WriteLoad } from '../../tests/support/workers.js';

/** The first commands under each heading of docs/how-to/backup.md. */
const COMMANDS = new Map(
  readFileSync('docs/how-to/backup.md', 'utf8')
    .split(/^##+ /m)
    .map((section) => [/.*/.exec(section)?.[0], /```sh\n(.*?)```/s.exec(section)?.[1]]),
);

/** Returns a folder in which `npx catalogue` runs this program, as in an installation. */
function installed(root: string): string {
  const folder = mkdtempSync(join(root, 'installed-'));
  const bin = join(folder, 'node_modules/.bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  symlinkSync(resolve('bin/catalogue.js'), join(bin, 'catalogue'));
  return folder;
}

describe('the backup of docs/how-to/backup.md', () => {
  const root = temporaryFolder();
  const running: CrashService[] = [];
  afterEach(async () => {
    for (const service of running.splice(0)) await service.end('SIGKILL');
  });
  const start = async (folder: string, workers: number, token?: string) => {
    const service = await CrashService.start(folder, workers, token);
    running.push(service);
    return service;
  };
  const runCommands = async (folder: string, heading: string): Promise<string> => {
    const commands = COMMANDS.get(heading) ?? `echo 'no commands under ${heading}'; false`;
    const { PATH = '', HOME = '' } = process.env;
    const shell = promisify(execFile)('bash', ['-euc', commands], { cwd: folder, env: { PATH, HOME } });
    return (await shell).stdout;
  };

  it('is made, verified and restored by the commands of the document while the service writes', async () => {
    const folder = installed(root);
    await run(folder, 'seed', '--products', '20000');
    const service = await start(folder, 2);
    const before = await service.with(async (client) => {
      const load = new WriteLoad(client);
      await load.more(100);
      const acknowledged = [...load.acknowledged];
      expect(await runCommands(folder, 'Back up')).to.match(/^backups\/.*\.sqlite: \d+ bytes, checked\n$/);
      await load.more(100);
      expect(await runCommands(folder, 'Verify')).to.match(/^verified\.sqlite: \d+ bytes, checked\n$/);
      await load.more(100);
      await load.stop();
      return acknowledged;
    });
    expect(readdirSync(join(folder, 'backups'))).to.have.length(1);
    expect(service.failures()).to.deep.equal([]);
    const last = await service.with(async (client) => (await client.post('/products', { name: 'last' })).json.id);
    await service.end('SIGKILL');

    expect(await runCommands(folder, 'Restore by hand')).to.equal(
      'All cursors of changes and all tags have expired.\n',
    );
    const restored = await start(folder, 2, service.token);
    const found = await restored.with(everyProduct);
    expect(
      before.filter((id) => !found.has(id)),
      'acknowledged before the backup',
    ).to.deep.equal([]);
    expect(found.size).to.be.at.least(20_000 + before.length);
    expect(found.has(last), 'written after the backup').to.equal(false);
    await restored.end('SIGTERM');
  });

  it('leaves no file if a signal interrupts it', async () => {
    const folder = mkdtempSync(join(root, 'store-'));
    await run(folder, 'seed', '--products', '20000');
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      let interrupted = {};
      await until(`${signal} comes before the backup is complete`, async () => {
        const target = mkdtempSync(join(root, 'target-'));
        const backup = new ChildProcessService(folder, {}, [CLI, 'backup', join(target, 'b.sqlite')]);
        await until('the backup writes', () => readdirSync(target).length > 0);
        const { code } = await backup.stop(signal);
        interrupted = { code, log: backup.log, files: readdirSync(target) };
        return code !== 0;
      });
      const log = 'Interrupted. No backup was created.\n';
      expect(interrupted).to.deep.equal({ code, log, files: [] });
    }
  });
});
