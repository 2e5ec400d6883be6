import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { basename, delimiter, join, resolve } from 'node:path';
import { AT_NIGHT } from '../../tests/support/run-settings.js';

const SOURCES = resolve('campaigns/generators');

/** Programs that must be on the PATH, each with the argument that makes it print its version. */
const REQUIRED: readonly (readonly [string, string])[] = [
  ['python3', '--version'],
  ['go', 'version'],
];
const REQUIRED_AT_NIGHT: typeof REQUIRED = [
  ['java', '-version'],
  ['javac', '-version'],
  ['mvn', '--version'],
  ['ruby', '--version'],
  ['php', '--version'],
];

/** Installs the pinned tools into a folder, each group once and only if it is asked for. */
export class Toolbox {
  private readonly installed = new Map<string, Promise<string>>();

  constructor(
    private readonly folder: string,
    /** Where and how programs find the service. */
    readonly access: Readonly<Record<'CATALOGUE_URL' | 'CATALOGUE_TOKEN' | 'CATALOGUE_CA', string>>,
  ) {}

  /** @throws Error that names the programs that are missing */
  async requirePrograms(): Promise<void> {
    const required = AT_NIGHT ? [...REQUIRED, ...REQUIRED_AT_NIGHT] : REQUIRED;
    const isMissing = await Promise.all(
      required.map(([program, argument]) =>
        this.run(program, [argument], this.folder).then(
          () => false,
          () => true,
        ),
      ),
    );
    const missing = required.map(([program]) => program).filter((_, index) => isMissing[index]);
    if (missing.length > 0)
      throw new Error(`missing on the PATH: ${missing.join(', ')}; see CONTRIBUTING.md for what this suite needs`);
  }

  /**
   * Installs the npm packages: `dependencies` for the gate, at night `devDependencies` too.
   * @returns the folder that has `node_modules`
   */
  npm(): Promise<string> {
    const omitted = AT_NIGHT ? [] : ['--omit=dev'];
    return this.once('npm', ['package.json', 'package-lock.json'], async (folder) => {
      await this.run(
        'npm',
        ['ci', ...omitted, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
        folder,
      );
    });
  }

  /** Installs the Python packages. @returns the folder that has `bin` */
  python(): Promise<string> {
    return this.once('python', ['requirements.txt'], async (folder) => {
      await this.run('python3', ['-m', 'venv', '.'], folder);
      await this.run(
        'bin/pip',
        ['install', '--quiet', '--no-deps', '--no-compile', '--require-hashes', '-r', 'requirements.txt'],
        folder,
      );
    });
  }

  /** Compiles oapi-codegen. @returns the folder of the Go module, which has the tool as `oapi-codegen` */
  go(): Promise<string> {
    return this.once('go', ['go.mod', 'go.sum'], async (folder) => {
      await this.run('go', ['build', '-o', '.', 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen'], folder);
    });
  }

  /** @returns the folder of the Go module that validates requests: its packages compile for minutes */
  validator(): Promise<string> {
    const files = ['go.mod', 'go.sum', 'main.go'].map((name) => `validator/${name}`);
    return this.once('validator', files, () => Promise.resolve());
  }

  /** Downloads the jars. @returns the folder that has openapi-generator, and in `lib` what its Java client needs */
  java(): Promise<string> {
    return this.once('java', ['pom.xml'], async (folder) => {
      await this.run('mvn', ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=lib'], folder);
      const generator = readdirSync(join(folder, 'lib')).find((name) => name.startsWith('openapi-generator'));
      renameSync(join(folder, 'lib', generator ?? ''), join(folder, 'openapi-generator.jar'));
    });
  }

  /** Copies programs of this folder. */
  copy(name: string, target: string): void {
    cpSync(join(SOURCES, name), target);
  }

  /** Runs a program. @returns its output @throws Error with the end of its output if it fails */
  run(program: string, args: readonly string[], folder: string, environment = {}): Promise<string> {
    return new Promise((done, reject) => {
      const env = { ...process.env, ...this.access, ...environment };
      const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk) => {
          output += chunk;
        });
      child.on('error', reject);
      child.on('close', (code) => {
        if (code === 0) done(output);
        else
          reject(
            new Error(`${[program, ...args].join(' ').slice(0, 300)} ended with ${code}:\n${output.slice(-6_000)}`),
          );
      });
    });
  }

  private once(name: string, files: readonly string[], install: (folder: string) => Promise<void>): Promise<string> {
    const present = this.installed.get(name);
    if (present) return present;
    const folder = join(this.folder, name);
    mkdirSync(folder);
    for (const file of files) this.copy(file, join(folder, basename(file)));
    const installation = install(folder).then(() => folder);
    this.installed.set(name, installation);
    return installation;
  }
}

/** Returns a PATH that begins with a folder. */
export function pathWith(folder: string): Record<string, string> {
  return { PATH: `${folder}${delimiter}${process.env['PATH']}` };
}

/** Returns the number of files below a folder and the sum of their sizes, in KB. */
export function sizeOf(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const bytes = files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
  return `${files.length} files, ${Math.round(bytes / 1_000)} KB`;
}
