import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { FIRST_KEY, inProcessService } from '../../../../tests/support/in-process-service.js';
import { AT_NIGHT } from '../../../../tests/support/run-settings.js';
import { temporaryFolder } from '../../../../tests/support/temporary-folder.js';

const README = readFileSync('packages/client/README.md', 'utf8');
const COMPILERS = { 5: 'packages/client/node_modules/typescript', 7: 'node_modules/typescript' };
const STRICT = {
  target: 'es2022',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  skipDefaultLibCheck: true,
};
const MAX_DOCUMENT_TYPES_BYTES = 210_000;
const MAX_PACKAGE_BYTES = 300_000;

const blocks = (language: string) =>
  [...README.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, block = '']) => block);

const [packing = '', running = '', ...otherCommands] = blocks('sh');

/** Packs the built client as its README says, and installs the package in an empty project, without a network. */
describe('the package of the client', () => {
  const service = inProcessService();
  const project = temporaryFolder();
  const installed = join(project, 'node_modules/product-catalogue-client');

  /** @returns standard output @throws Error with the output, if the program fails */
  const run = async (program: string, args: readonly string[], cwd = project) => {
    const env = { ...process.env, npm_config_offline: 'true', npm_config_ignore_scripts: 'true' };
    try {
      return (await promisify(execFile)(program, args, { cwd, env })).stdout;
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`);
    }
  };
  const compile = (version: 5 | 7, resolution: string, ...options: string[]) => {
    const modules = resolution === 'bundler' ? 'esnext' : resolution;
    const args = ['-p', '.', '--module', modules, '--moduleResolution', resolution, ...options];
    return run(process.execPath, [resolve(COMPILERS[version], 'bin/tsc'), ...args]);
  };

  before(async () => {
    const code = blocks('ts').join('\n').replaceAll('localhost:8443', `localhost:${service.port}`);
    const files = {
      'package.json': '{"type":"module"}',
      'tsconfig.json': JSON.stringify({ compilerOptions: STRICT }),
      'process.d.ts': 'declare const process: { env: Record<string, string | undefined> };',
      'types.ts': readFileSync('packages/client/tests/types.ts'),
      'example.ts': code,
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(project, name), content);
    const dependencies = ['openapi-fetch', 'openapi-typescript-helpers'].map((name) => `node_modules/${name}`);
    await run('npm', ['install', '--install-links', ...dependencies.map((path) => resolve(path))]);
    await run('sh', ['-ec', packing.replaceAll('../my-project', project)], resolve('.'));
  });

  it('contains the compiled modules, and nothing of their build', () => {
    const modules = readdirSync('packages/client/src').map((name) => `dist/${name.replace(/\.ts$/, '')}`);
    const files = readdirSync(installed, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1));
    const expected = [
      'LICENSE',
      'README.md',
      'package.json',
      ...modules.flatMap((name) => [`${name}.js`, `${name}.d.ts`]),
    ];
    expect(files).to.have.members(expected);
    const sizes = files.map((name) => statSync(join(installed, name)).size);
    expect(sizes.reduce((sum, size) => sum + size)).to.be.below(MAX_PACKAGE_BYTES);
    expect(statSync(join(installed, 'dist/document.d.ts')).size).to.be.below(MAX_DOCUMENT_TYPES_BYTES);
  });

  it('may be published, under the licence of the service', () => {
    const { private: isPrivate, license } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    expect([isPrivate, license]).to.deep.equal([undefined, 'Apache-2.0']);
    expect(readFileSync(join(installed, 'LICENSE'), 'utf8')).to.equal(readFileSync('LICENSE', 'utf8'));
  });

  for (const version of [5, 7] as const)
    for (const moduleResolution of version === 7 || AT_NIGHT ? ['node16', 'bundler'] : ['node16'])
      it(`has types that TypeScript ${version} checks with moduleResolution ${moduleResolution}`, async () => {
        const { version: actual } = JSON.parse(readFileSync(join(COMPILERS[version], 'package.json'), 'utf8'));
        expect(actual).to.match(new RegExp(`^${version}\\.`));
        await compile(version, moduleResolution, '--noEmit');
      });

  it('has a README whose code compiles, and runs over HTTPS', async () => {
    await compile(7, 'node16');
    const authority = join(service.folder, 'tls/ca.pem');
    const command = running.replace('/path/to/data/tls/ca.pem', authority).replace('pcs_…', FIRST_KEY);
    expect((await run('sh', ['-ec', command])).split('\n')).to.deep.equal([
      '1 Bright Lamp',
      'tags  ',
      'brand  ',
      'attributes[colour]  ',
      '1 200 2 undefined undefined',
      '2 204 undefined true undefined',
      '200 Bright Lamp',
      '403 insufficient_scope: This needs the scope products:write',
      '',
    ]);
  });

  it('has a README without other code than the tested, whose first example is in the README of the service', () => {
    expect(otherCommands).to.deep.equal([]);
    expect(README, 'a link that leaves the package').to.not.include('](..');
    expect(README.match(/^```/gm)).to.have.length(2 * [...blocks('sh'), ...blocks('ts')].length);
    expect(readFileSync('README.md', 'utf8')).to.include(`\`\`\`ts\n${blocks('ts')[0]}\`\`\``);
  });
});
