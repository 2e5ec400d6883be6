import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { ChildProcessService } from '../support/child-process-service.js';
import { list } from '../support/list.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const { name, version, bin } = JSON.parse(readFileSync('package.json', 'utf8'));
/** What npm installs for the one dependency of the package. */
const NATIVE_PACKAGES = list`libsql  @libsql  @neon-rs  detect-libc`;

describe('the npm package', () => {
  const root = temporaryFolder();
  const installed = join(root, 'node_modules', name);
  const run = (program: string, ...args: string[]) => {
    const command = [join(installed, program), ...args];
    const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: root, encoding: 'utf8' });
    return { status, stdout, stderr };
  };

  before('install it as npm does, without the network', () => {
    execFileSync(process.execPath, [resolve('scripts/package.js')]);
    const [tarball = ''] = execFileSync('npm', ['pack', '--silent', '--pack-destination', root, './build/package'], {
      encoding: 'utf8',
    }).split('\n');
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', join(root, tarball), '--strip-components=1', '-C', installed]);
    for (const native of NATIVE_PACKAGES)
      symlinkSync(resolve('node_modules', native), join(root, 'node_modules', native));
  });

  it('has no sources, no packages of others and no file of the build', () => {
    for (const path of ['src/main.ts', 'dist/main.js', 'node_modules', 'tests', 'scripts', 'package-lock.json'])
      expect(existsSync(join(installed, path)), path).to.equal(false);
  });

  it('names every package of the bundles in its notices and its bill of materials', () => {
    const lock: Record<string, { dev?: boolean; optional?: boolean; link?: boolean; version: string }> = JSON.parse(
      readFileSync('package-lock.json', 'utf8'),
    ).packages;
    const bundled = Object.entries(lock)
      .filter(([path, { dev, optional, link }]) => path.includes('node_modules/') && !dev && !optional && !link)
      .map(([path, one]) => `${path.replace(/.*node_modules\//, '')} ${one.version}`);
    const { metadata, components } = JSON.parse(readFileSync(join(installed, 'sbom.cdx.json'), 'utf8'));
    const named = components.map((one: { name: string; version: string }) => `${one.name} ${one.version}`);
    const notices = readFileSync(join(installed, 'THIRD-PARTY-NOTICES'), 'utf8');
    const noticed = [...notices.matchAll(/^(\S+ \d\S*): \S/gm)].map(([, one]) => one);
    expect(metadata.component).to.include({ name, version, type: 'application' });
    expect(bundled).to.include(`koa ${lock['node_modules/koa']?.version}`);
    expect(named).to.include.members(bundled);
    expect(noticed).to.include.members(bundled);
  });

  it('serves the API, the pages and samples, with its data in the folder of the caller', async () => {
    const service = new ChildProcessService(root, {}, [join(installed, bin[name])]);
    try {
      const client = await service.started();
      const paths = list`/console  /console/main.js  /console/console.css  /docs  /docs/main.js  /docs/docs.css  /docs/base.css  /openapi.json`;
      for (const path of paths) expect((await client.get(path, { token: null })).status, path).to.equal(200);
      expect(run(bin.catalogue, 'seed', '--products', '3')).to.include({ status: 0 });
      expect((await client.get('/products')).json).to.have.length(3);
      expect(existsSync(join(root, 'data/catalogue.sqlite'))).to.equal(true);
      client.close();
    } finally {
      await service.stop();
    }
  });

  it('has two programs, of which one without arguments prints its help', () => {
    expect(run(bin[name], '--version')).to.include({ status: 0, stdout: `${version}\n` });
    expect(run(bin.catalogue).stderr).to.include('usage: catalogue [options] [command]');
  });

  for (const file of list`package.json  config/default.json  dist/pages/console.js  packages/pages/docs/docs.css`)
    it(`ends with one line and exit code 70 without ${file}`, () => {
      const path = join(installed, file);
      renameSync(path, `${path}.away`);
      try {
        const { status, stderr } = run(bin[name]);
        expect(stderr).to.match(/^A file of this program cannot be read, so it has to be installed again: .*\n$/);
        expect(stderr).to.include(dirname(file));
        expect(status).to.equal(70);
      } finally {
        renameSync(`${path}.away`, path);
      }
    });
});
