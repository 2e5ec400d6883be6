import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { load } from 'js-yaml';
import { isSupported } from '#src/process/supported-node.js';
import { NODE_VERSIONS, SUITES, suitesOf } from '../../../scripts/suites.js';

const read = (file: string) => readFileSync(file, 'utf8');
const json = (file: string) => JSON.parse(read(file));
const MANIFEST = json('package.json');
const LOCK = json('package-lock.json');

interface Workflow {
  readonly jobs: { readonly suite: { readonly strategy: { readonly matrix: { readonly suite: readonly string[] } } } };
}

/** Licences that allow use, change and passing on without conditions for the rest of a program. */
const ALLOWED = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT'];

/** The files below a folder that may state a version. */
const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => /\.(cfg|html|json|md|ts|xml|ya?ml)$/.test(name));

describe('the version', () => {
  it('is the same in every package and in the lock file', () => {
    const versions = [
      json('packages/client/package.json').version,
      LOCK.version,
      LOCK.packages[''].version,
      LOCK.packages['packages/client'].version,
    ];
    expect(versions).to.deep.equal(versions.map(() => MANIFEST.version));
  });

  it('has a section in CHANGELOG.md, below the changes that are not released yet', () => {
    const headings = [...read('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings[0]).to.equal('[Unreleased]');
    expect(headings[1])
      .to.match(/^\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}$/)
      .and.include(`[${MANIFEST.version}]`);
  });

  it('is stated nowhere else', () => {
    const files = ['Dockerfile', 'docker-compose.yml', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'].concat(
      ['docs', 'deploy', '.github', 'examples', 'src', 'config'].flatMap(filesIn),
    );
    const version = new RegExp(`(?<![\\d.])${MANIFEST.version.replaceAll('.', '\\.')}(?![\\d.])`);
    expect(files.filter((file) => version.test(read(file)))).to.deep.equal([]);
  });

  it('of an image is none in the manifests, because a release sets it', () => {
    const images = [...read('deploy/kubernetes/deployment.yaml').matchAll(/^ +image: (.*)$/gm)];
    expect(images.map(([, image]) => image)).to.deep.equal(['catalogue']);
    expect(read('deploy/kubernetes/kustomization.yaml')).to.not.match(/newTag|digest/);
  });
});

describe('the supported versions of Node', () => {
  const supported: string = MANIFEST.engines.node;
  const lines = [...supported.matchAll(/\^(\d+)/g)].map(([, major = '']) => major);
  const majors = NODE_VERSIONS.map((version) => version.split('.')[0]);

  it('are tested at night: each line besides the lowest, which the machine has, and the newest', () => {
    expect(majors.slice(0, -1)).to.deep.equal(lines.slice(1));
    for (const version of NODE_VERSIONS) expect(isSupported(version, supported), version).to.equal(true);
    expect(isSupported(`${Number(majors.at(-1)) - 1}.999.0`, supported)).to.equal(true);
  });

  it('include that of .ci/run, which is that of the image', () => {
    const [, version = ''] = /^node_version=(.*)$/m.exec(read('.ci/run')) ?? [];
    expect(NODE_VERSIONS).to.include(version);
    expect(read('Dockerfile')).to.include(`node:${version}-slim`);
  });

  it('include that of the image, in every stage', () => {
    const bases = [...read('Dockerfile').matchAll(/^FROM (?:--\S+ )?node:(\S+)/gm)].map(([, tag]) => tag);
    expect(bases.length).to.equal([...read('Dockerfile').matchAll(/^FROM /gm)].length);
    expect(new Set(bases).size).to.equal(1);
    expect(lines).to.include(bases[0]?.split('.')[0]);
  });
});

/** A pattern of file names as mocha reads it. */
const patternOf = (glob: string) =>
  new RegExp(
    `^${glob
      .replace(/\{([^}]*)\}/g, (_, names: string) => `(?:${names.replaceAll(',', '|')})`)
      .replaceAll(/(\*\*\/)|\*/g, (_, folders) => (folders ? '(?:.*/)?' : '[^/]*'))}$`,
  );

describe('the suites', () => {
  it('run every test file', () => {
    const commands = [MANIFEST.scripts.test, ...SUITES.flatMap(({ command, atNight }) => [command, atNight])];
    const globs = [...commands.join(' ').matchAll(/'build\/([^']+)\.test\.js'/g)];
    // Mocha takes braces without a star for a name.
    expect(globs.filter(([, glob = '']) => glob.includes('{') && !glob.includes('*'))).to.deep.equal([]);
    const patterns = globs.map(([, glob = '']) => patternOf(glob));
    const files = ['tests', 'campaigns', 'packages/client/tests']
      .flatMap(filesIn)
      .flatMap((file) => (file.endsWith('.test.ts') ? [file.slice(0, -'.test.ts'.length)] : []));
    expect(files.length).to.be.greaterThan(300);
    expect(files.filter((file) => !patterns.some((pattern) => pattern.test(file)))).to.deep.equal([]);
  });

  it('of the night are the jobs of the nightly workflow', () => {
    const { suite } = (load(read('.github/workflows/nightly.yml')) as Workflow).jobs.suite.strategy.matrix;
    expect(suite).to.deep.equal(suitesOf('night').map(({ name }) => name));
  });
});

describe('the packages that are passed on', () => {
  const passedOn = Object.entries<{ dev?: boolean; link?: boolean; license?: string }>(LOCK.packages).filter(
    ([path, { dev, link }]) => path.includes('node_modules/') && !dev && !link,
  );

  it('have licences that allow it', () => {
    expect(passedOn.length).to.be.greaterThan(100);
    const others = passedOn.filter(([, { license = 'none' }]) => !ALLOWED.includes(license));
    expect(others.map(([path, { license }]) => `${path}: ${license}`)).to.deep.equal([]);
  });
});
