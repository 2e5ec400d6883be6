import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { CLI } from '../support/child-process-service.js';
import { freePort } from '../support/free-port.js';
import { FIRST_KEY, inProcessService } from '../support/in-process-service.js';
import { jsonLines } from '../support/line-stream.js';
import { until } from '../support/until.js';
import { runInProcess } from '../unit/adapters/inbound/cli/run-command.js';

describe('catalogue changes', () => {
  const service = inProcessService();
  const environment = (variables: Record<string, string> = {}) => ({
    API_KEY: FIRST_KEY,
    PORT: `${service.port}`,
    DATA_DIR: service.folder,
    ...variables,
  });
  const run = (args: readonly string[], variables: Record<string, string> = {}) =>
    runInProcess(['changes', '--resource', 'products', ...args], environment(variables));
  const cursorNow = async (...args: string[]) => jsonLines((await run(['--cursors', ...args])).out)[0].cursor;
  const create = async (name: string): Promise<number> => (await service.post('/v1/products', { name })).json.id;

  it('prints nothing without a cursor, what changed behind one, and a newer one if nothing did', async () => {
    expect(await run([])).to.include({ code: 0, out: '', err: '' });
    const from = await cursorNow();
    const [lamp, desk] = [await create('Lamp\u009b'), await create('Desk')];
    await service.delete(`/v1/products/${desk}`);
    const { code, out, err } = await run(['--from', from, '--cursors']);
    expect([code, err]).to.deep.equal([0, '']);
    expect(out).to.include('"Lamp\\u009b"');
    const lines = jsonLines(out);
    const { cursor } = lines.at(-1);
    service.clock.pass(30 * 3_600_000);
    const later = await cursorNow('--from', cursor);
    service.clock.pass(30 * 3_600_000);
    expect((await run(['--from', cursor])).code).to.equal(65);
    const changes = [
      { id: lamp, name: 'Lamp\u009b', version: 1 },
      { id: desk, version: 2, deleted: true },
    ];
    expect(lines.filter((line) => !line.cursor)).to.deep.equal(changes);
    expect(await run(['--from', later])).to.include({ code: 0, out: '' });
  });

  it('prints the chosen fields', async () => {
    const fields = ['--fields', 'sku,createdAt'];
    const from = await cursorNow(...fields);
    await create('Lamp');
    const [line] = jsonLines((await run(['--from', from, ...fields])).out);
    expect(line).to.have.all.keys('id', 'version', 'createdAt');
  });

  it('follows until a signal', async () => {
    const args = [CLI, 'changes', '--resource', 'products', '--follow', '--cursors'];
    const child = spawn(process.execPath, args, { env: environment() });
    let out = '';
    child.stdout.on('data', (chunk) => (out += chunk));
    const exited = once(child, 'exit');
    await until('it has a cursor', () => out.includes('cursor'));
    for (const name of ['one', 'two']) {
      await create(name);
      await until(`it prints ${name}`, () => new RegExp(`"${name}".*\\n.*cursor.*\\n`).test(out));
    }
    child.kill('SIGTERM');
    expect(await exited).to.deep.equal([null, 'SIGTERM']);
  });

  it('ends with 65 if changes may be missing, with 77 without access, with 75 without a service', async () => {
    const from = await cursorNow();
    await service.application.feedState.reset();
    for (const follow of [[], ['--follow']]) {
      const expired = await run(['--from', from, ...follow]);
      expect(expired.code).to.equal(65);
      expect(expired.err).to.include('Take a new cursor and list again. (cursor_expired)');
      expect((await run(follow, { API_KEY: 'none' })).code).to.equal(77);
      expect((await run(follow, { PORT: `${await freePort()}` })).code).to.equal(75);
    }
    expect((await run(['--from', 'x'])).code).to.equal(65);
  });
});
