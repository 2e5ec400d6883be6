import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { expect } from 'chai';
import { PROCESS_IO } from '#src/adapters/inbound/cli/io.js';
import { ChildProcessService, CLI } from '../support/child-process-service.js';
import { jsonLines } from '../support/line-stream.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('the output of a command', () => {
  const folder = temporaryFolder();

  it('ends the command with 141 if the reader closes the pipe early', async () => {
    const command = new ChildProcessService(folder, {}, [CLI, 'openapi']);
    command.closeOutput();
    expect(await command.exit).to.deep.equal({ code: 141, signal: null });
    expect(command.log).to.equal('');
  });

  const runTo = (output: number | 'pipe', ...args: string[]) =>
    spawnSync(process.execPath, [CLI, ...args], { cwd: folder, stdio: ['ignore', output, 'pipe'], encoding: 'utf8' });
  const runToFull = (...args: string[]) => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = runTo(full, ...args);
    closeSync(full);
    return { status, stderr };
  };

  it('ends the command with 74 and one line if it cannot be written', () => {
    const { status, stderr } = runToFull('openapi');
    expect(status).to.equal(74);
    expect(stderr).to.match(/^standard output: .*\n$/);
  });

  describe('that is an API key', () => {
    const create = ['keys', 'create', '--scopes', 'all', '--name'];
    const keyNames = () => jsonLines(runTo('pipe', 'keys', 'list').stdout).map(({ name }) => name);
    before(() => expect(runTo('pipe', ...create, 'seen').status).to.equal(0));

    for (const json of [[], ['--json']])
      it(`leaves no key that nobody has seen if it cannot be written: ${[...create, 'x', ...json].join(' ')}`, () => {
        const { status, stderr } = runToFull(...create, 'unseen', ...json);
        expect(status).to.equal(74);
        expect(stderr).to.match(/^standard output: ENOSPC.*; key \d+ is revoked\n$/);
        expect(keyNames()).to.deep.equal(['seen']);
      });

    it('leaves no key that nobody has seen if the reader has closed the pipe', async () => {
      const command = new ChildProcessService(folder, {}, [CLI, ...create, 'unseen']);
      command.closeOutput();
      expect(await command.exit).to.deep.equal({ code: 141, signal: null });
      expect(command.log).to.match(/^standard output: .*EPIPE.*; key \d+ is revoked\n$/);
      expect(keyNames()).to.deep.equal(['seen']);
    });
  });

  it('has one listener for its errors, however many lines it has', async () => {
    const listeners = () => process.stdout.listenerCount('error') - before;
    const before = process.stdout.listenerCount('error');
    for (let line = 0; line < 12; line++) await PROCESS_IO.stdout.deliver('');
    expect(listeners()).to.be.at.most(1);
  });

  it('keeps the exit code if nobody reads the messages', async () => {
    const command = spawn(process.execPath, [CLI, 'toString'], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    command.stderr.destroy();
    expect(await once(command, 'exit')).to.deep.equal([64, null]);
  });
});
