import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadSettings } from '#src/config/settings.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';

const FOLDER = 'deploy/systemd';
/** The exposure that docs/how-to/production.md promises. */
const EXPOSURE = Number(/gives an exposure of ([\d.]+)/.exec(readFileSync('docs/how-to/production.md', 'utf8'))?.[1]);

describe('the units of deploy/systemd', () => {
  const folder = temporaryFolder();
  const units = readdirSync(FOLDER).filter((name) => name.startsWith('product-catalogue.'));
  before(() => {
    try {
      execFileSync('systemd-analyze', ['--version']);
    } catch {
      throw new Error('systemd-analyze is missing; on Debian: apt-get install -y systemd');
    }
    for (const unit of units) copyFileSync(join(FOLDER, unit), join(folder, unit));
    const service = join(folder, 'product-catalogue.service');
    // systemd-analyze requires that the program exists.
    writeFileSync(service, readFileSync(service, 'utf8').replace('/usr/bin/node', process.execPath));
  });
  const analyze = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { cwd: folder, encoding: 'utf8' });
    return { status, out: stdout, err: stderr };
  };

  it('are understood by systemd without a warning', () => {
    expect(units).to.have.length(2);
    const { status, err } = analyze('verify', ...units.map((unit) => `./${unit}`));
    expect([status, err]).to.deep.equal([0, '']);
  });

  it('expose no more than the document says', () => {
    const { status, out } = analyze(
      'security',
      '--offline=true',
      `--threshold=${EXPOSURE * 10}`,
      './product-catalogue.service',
    );
    expect(out).to.include(`exposure level for product-catalogue.service: ${EXPOSURE.toFixed(1)}`);
    expect(status).to.equal(0);
  });

  it('start with valid settings', () => {
    const settings = loadSettings({ CONFIG_FILE: join(FOLDER, 'settings.json') });
    expect(settings.DATA_DIR).to.equal('/var/lib/product-catalogue');
  });
});
