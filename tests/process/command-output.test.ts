import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { expect } from 'chai';
import { ChildProcessService, CLI } from '../support/child-process-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('the output of a command', () => {
  const folder = temporaryFolder();

  it('ends the command with 141 if the reader closes the pipe early', async () => {
    const command = new ChildProcessService(folder, {}, [CLI, 'openapi']);
    command.closeOutput();
    expect(await command.exit).to.deep.equal({ code: 141, signal: null });
    expect(command.log).to.equal('');
  });

  it('ends the command with 74 and one line if it cannot be written', () => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [CLI, 'openapi'], {
      cwd: folder,
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    expect(status).to.equal(74);
    expect(stderr).to.match(/^standard output: .*\n$/);
  });

  it('keeps the exit code if nobody reads the messages', async () => {
    const command = spawn(process.execPath, [CLI, 'toString'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    command.stderr.destroy();
    expect(await once(command, 'exit')).to.deep.equal([64, null]);
  });
});
