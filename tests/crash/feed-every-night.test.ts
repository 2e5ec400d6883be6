import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ChildProcessService, CLI } from '../support/child-process-service.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const GUIDE = readFileSync('docs/how-to/feed-every-night.md', 'utf8');

/** Programs of the machine, which the test must not change; `crontab` keeps its input in a file. */
const STAND_INS = {
  npx: `[ "$1" = catalogue ] && shift && exec '${process.execPath}' '${CLI}' "$@"`,
  crontab: 'case $1 in -l) exit 1;; -) cat > "$HOME/crontab";; esac',
  systemctl: 'echo "$@" >> "$HOME/systemctl"',
  loginctl: ':',
};

describe('docs/how-to/feed-every-night.md', () => {
  const folder = join(temporaryFolder(), 'a folder');
  const blocks = (language: string) =>
    [...GUIDE.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, block = '']) => block);
  const outputs: string[] = [];
  let service: ChildProcessService;
  let shell: (script: string) => string;

  before(async () => {
    mkdirSync(join(folder, 'bin'), { recursive: true });
    for (const [name, script] of Object.entries(STAND_INS)) {
      writeFileSync(join(folder, 'bin', name), `#!/bin/bash\n${script}\n`);
      chmodSync(join(folder, 'bin', name), 0o755);
    }
    service = new ChildProcessService(folder);
    const PORT = `${await service.listening()}`;
    await service.prints(/shown this once/);
    const env = { HOME: folder, PATH: `${folder}/bin:${process.env['PATH']}`, PORT };
    shell = (script) => {
      const { status, stdout, stderr } = spawnSync('bash', ['-ec', script], { cwd: folder, env, encoding: 'utf8' });
      expect([status, stderr], script).to.deep.equal([0, '']);
      return stdout;
    };
    for (const block of blocks('sh')) outputs.push(shell(block));
  });
  after(() => service.stop());

  it('has blocks that work in their order, and the output that it shows', () => {
    const counts = '2 created, 0 changed, 1 unchanged, 0 deleted, 0 refused\n';
    expect(outputs.filter((output) => output !== '')).to.deep.equal([
      `3 records (dry run): ${counts}`,
      ...blocks('text'),
      '0 records: 0 created, 0 changed, 0 unchanged, 0 deleted, 0 refused\n',
    ]);
    expect(blocks('text')).to.deep.equal([`3 records: ${counts}`]);
    expect(existsSync(join(folder, 'feed.refused.csv'))).to.equal(false);
  });

  it('publishes drafts, and deletes products that the file lacks', () => {
    const file = (rows: string) => writeFileSync(join(folder, 'feed.csv'), `sku,name,status\n${rows}\n`);
    file('L-2,,live\nL-4,Rug,draft');
    expect(shell('./feed.sh')).to.include('1 created, 1 changed');
    expect(shell('./gone.sh 1')).to.include('1 deleted, 0 refused');
    file('L-2,Desk,\nL-4,Rug,');
    const clear = 'npx catalogue import feed.csv --resource products --match sku --empty clear';
    expect(shell(`. ./feed.env; export API_KEY; ${clear}`)).to.include('1 changed, 1 unchanged');
    expect(readFileSync(join(folder, 'in-service.txt'), 'utf8')).to.equal('L-1\nL-2\nL-4\n');
  });

  it('has a job for each night, which runs the script', () => {
    const job = readFileSync(join(folder, 'crontab'), 'utf8');
    const unit = readFileSync(join(folder, '.config/systemd/user/feed.service'), 'utf8');
    expect(existsSync(join(folder, '.config/systemd/user/feed.timer'))).to.equal(true);
    expect(readFileSync(join(folder, 'systemctl'), 'utf8')).to.match(/enable --now feed\.timer\n$/);
    const [, ofCron = ''] = /^0 2 \* \* \* (.*)\n$/.exec(job) ?? [];
    const [, ofSystemd = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
    for (const command of [ofCron, ofSystemd])
      expect(shell(`cd / && env -i PORT=$PORT PATH=/usr/bin:/bin ${command}`)).to.match(/, 2 unchanged, /);
  });

  for (const [what, rows, reason] of [
    ['has another first column', 'name,sku\nDesk,L-2\n', 'the first column of feed.csv is not sku'],
    ['has quotation marks', 'sku,name\n"L-2",Desk\n', 'the first column of feed.csv has other texts than SKUs'],
    ['has quotation marks in its header', '"sku","name"\n"L-2","Desk"\n', 'the first column of feed.csv is not sku'],
    ['is empty', '', 'the first column of feed.csv is not sku'],
    ['is cut off', 'sku,name\n', '2 products would go'],
  ] as const)
    it(`deletes nothing if the file ${what}`, () => {
      writeFileSync(join(folder, 'feed.csv'), rows);
      expect(shell('./gone.sh 1 2>&1 || [ $? = 65 ]')).to.equal(`${reason}: nothing is deleted\n`);
    });
});
