import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { temporaryFolder } from '../support/temporary-folder.js';

const { bin } = JSON.parse(readFileSync('package.json', 'utf8'));

describe('the command catalogue', () => {
  const folder = temporaryFolder();
  const run = (file: string, ...args: string[]) => spawnSync(file, args, { encoding: 'utf8' });

  it('runs the built program with its arguments and exit code', () => {
    expect(run(resolve(bin.catalogue), 'seed', '--help').stdout).to.match(/^usage: catalogue seed /);
    expect(run(resolve(bin.catalogue), 'seed', '--products', 'many').status).to.equal(64);
  });

  it('ends where the system refuses to create the folder of the store', () => {
    const file = '/proc/catalogue/data.sqlite';
    const env = { ...process.env, SQLITE_FILE: file };
    const options = { env, encoding: 'utf8', timeout: 20_000 } as const;
    const { status, stderr } = spawnSync(resolve(bin.catalogue), ['seed', '--products', '1'], options);
    const reason = 'no such file or directory (ENOENT)';
    expect([status, stderr]).to.deep.equal([
      75,
      `The file ${file} cannot be opened. The reason: ${reason}.\nTo do: catalogue check says what is wrong.\n`,
    ]);
  });

  it('says how to build the program if it is not built', () => {
    for (const file of ['package.json', bin.catalogue]) cpSync(file, join(folder, file));
    const { status, stdout, stderr } = run(join(folder, bin.catalogue), 'seed');
    expect([status, stdout]).to.deep.equal([78, '']);
    expect(stderr).to.match(/npm run build\n$/);
  });
});
