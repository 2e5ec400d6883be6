import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { isSupported } from '#src/process/supported-node.js';
import { list } from '../../support/list.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const MANIFEST = JSON.parse(readFileSync('package.json', 'utf8'));
const SUPPORTED: string = MANIFEST.engines.node;
const PROGRAMS = ['main.js', 'cli.js'];
const BUNDLE = 'dist/bundle';

/** The files that run before the version of Node is checked: a program, and what it imports statically. */
function firstFiles(program: string): readonly string[] {
  const imports = [...readFileSync(join(BUNDLE, program), 'utf8').matchAll(/^import .* from "\.\/(.*)";$/gm)];
  return [program, ...imports.flatMap(([, file = '']) => firstFiles(file))];
}

describe('the version of Node', () => {
  const folder = temporaryFolder();

  /** Runs a program without the files it would import, under a manifest that supports these versions. */
  const run = (program: string, supported: string) => {
    mkdirSync(join(folder, BUNDLE), { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...MANIFEST, engines: { node: supported } }));
    for (const file of firstFiles(program)) copyFileSync(join(BUNDLE, file), join(folder, BUNDLE, file));
    return spawnSync(process.execPath, [join(folder, BUNDLE, program), 'help'], { encoding: 'utf8' });
  };

  for (const program of PROGRAMS) {
    it(`ends ${program} with one line before it imports anything if it is too old`, () => {
      const { status, stdout, stderr } = run(program, '^97.20.2 || ^98.1.0 || >=99.8.2');
      expect(stderr).to.equal(
        `This needs Node 97.20.2 or later of 97.x, 98.1.0 or later of 98.x, 99.8.2 or later; it is run by Node ${process.versions.node}.\n`,
      );
      expect([status, stdout]).to.deep.equal([78, '']);
    });

    it(`lets ${program} continue if it is supported, and end with one line without what it imports`, () => {
      const { status, stderr } = run(program, `^${process.versions.node} || >=99.0.0`);
      expect(stderr).to.match(/^A file of this program cannot be read, .*: Cannot find module .*\n$/);
      expect(status).to.equal(70);
    });
  }

  it('is checked by code that Node 12 can parse', () => {
    for (const file of PROGRAMS.flatMap(firstFiles)) {
      const code = readFileSync(join(BUNDLE, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      expect(code, file).to.include('requireSupportedNode()');
      expect(code, file).to.not.match(/\bawait\b|\?\.|\?\?|\|\|=|&&=|\bstatic\b|\d_\d|\.at\(|hasOwn|replaceAll/);
    }
  });

  it('is supported only if V8 hashes integer-like strings unpredictably (CVE-2026-21717)', () => {
    for (const version of list`20.20.2  20.21.0  22.22.2  22.23.3  24.14.1  24.20.0  25.8.2  26.0.0  26.10.0`)
      expect(isSupported(version, SUPPORTED), version).to.equal(true);
    for (const version of list`12.22.12  18.20.8  20.19.0  20.20.1  21.7.3  22.22.1  22.9.9  23.11.1`)
      expect(isSupported(version, SUPPORTED), version).to.equal(false);
    for (const version of ['24.14.0', '24.9.1', '25.8.1', '9.99.99', '2.20.2'])
      expect(isSupported(version, SUPPORTED), version).to.equal(false);
  });

  it('is compared without the suffix of a nightly build, and is supported now', () => {
    expect(isSupported('27.0.0-nightly20261101', SUPPORTED)).to.equal(true);
    expect(isSupported('25.8.1-nightly20260301', SUPPORTED)).to.equal(false);
    expect(isSupported(process.versions.node, SUPPORTED)).to.equal(true);
    expect(() => isSupported('20.20.2', '~20.20')).to.throw('package.json');
  });
});
