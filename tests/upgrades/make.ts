/**
 * Makes a data folder as the service of a commit leaves it, for the test that opens it with later services:
 *
 *     npm run check && node build/tests/upgrades/make.js COMMIT NAME
 *
 * It checks out the commit, installs its packages, builds it, starts it on an empty folder, and uses it as clients do.
 * It writes these files to `tests/upgrades/NAME`:
 *
 * - `catalogue.sqlite.br` and so on: all files of the folder after a clean stop, but for `tls/`
 * - `history.json.br`: what the service said about every record
 * - `keys.json`: the API keys, which only this database knows
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { ChildProcessService } from '../support/child-process-service.js';
import { HttpClient } from '../support/http-client.js';
import { FIRST_KEY } from '../support/in-process-service.js';
import { makeHistory, PUBLIC_URL } from './history.js';

const [commit = '', name = ''] = process.argv.slice(2);
if (!commit || !name) throw new Error('usage: make.js COMMIT NAME');
const work = mkdtempSync(join(tmpdir(), 'catalogue-upgrade-'));
const checkout = join(work, 'checkout');
try {
  run('.', 'git', 'worktree', 'add', '--quiet', '--detach', checkout, commit);
  run(checkout, 'npm', 'ci', '--silent');
  run(checkout, 'npm', 'run', '--silent', 'build');
  const folder = join(work, 'service');
  mkdirSync(folder);
  await make(folder, resolve('tests/upgrades', name));
} finally {
  run('.', 'git', 'worktree', 'remove', '--force', checkout);
  rmSync(work, { recursive: true });
}

async function make(folder: string, target: string): Promise<void> {
  const environment = { BOOTSTRAP_API_KEY: FIRST_KEY, PUBLIC_URL, WEBHOOK_NETWORKS: '192.0.2.0/24' };
  const service = new ChildProcessService(folder, environment, [program('main.js')]);
  const port = await service.listening();
  await service.prints(/curl/);
  const client = new HttpClient(port, join(folder, 'data/tls/ca.pem'), FIRST_KEY);
  const command = async (...args: string[]) => {
    const ended = new ChildProcessService(folder, environment, [program('cli.js'), ...args]);
    const { code } = await ended.exit;
    if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${ended.log}`);
    return ended.out;
  };
  const { history, keys } = await makeHistory(client, command);
  client.close();
  const { code } = await service.stop();
  if (code !== 0) throw new Error(`the service ended with ${code}: ${service.log}`);
  mkdirSync(target);
  const pack = (file: string, bytes: Buffer) => writeFileSync(join(target, `${file}.br`), compressed(bytes));
  for (const file of readdirSync(join(folder, 'data')))
    if (file !== 'tls') pack(file, readFileSync(join(folder, 'data', file)));
  pack('history.json', Buffer.from(JSON.stringify(history)));
  writeFileSync(join(target, 'keys.json'), `${JSON.stringify(keys, null, 2)}\n`);
}

/** The window covers the log of SQLite, which has many versions of each page: a tenth of the size by gzip remains. */
function compressed(bytes: Buffer): Buffer {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } });
}

/** Later builds bundle the programs. */
function program(file: string): string {
  const bundled = join(checkout, 'dist/bundle', file);
  return existsSync(bundled) ? bundled : join(checkout, 'dist', file);
}

function run(folder: string, command: string, ...args: string[]): void {
  const { status } = spawnSync(command, args, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
}
