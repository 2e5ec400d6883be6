import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { list } from '../../tests/support/list.js';

/** How an engine starts the image. */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Volumes: Readonly<Record<string, unknown>>;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

export interface Image {
  /** The folder that has the files of the image. */
  readonly root: string;
  readonly config: ImageConfig;
}

const BASE = `docker.io/library/${/^FROM (?:--\S+ )?(node:\S+)/m.exec(readFileSync('Dockerfile', 'utf8'))?.[1]}`;
/** What the commands of the Dockerfile and npm call. */
const PROGRAMS = ['sh', 'env', 'rm', 'ln', 'mkdir'];
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';
const MAX_OUTPUT_BYTES = 2 ** 26;

/**
 * Builds the Dockerfile with Buildah, which needs no daemon. A stand-in replaces the base image, so no registry of
 * images is needed either: the Node.js that runs the tests, npm, and a few programs of this machine with their libraries.
 */
export class ImageBuilder {
  private readonly storage: readonly string[];

  /** @param folder an empty folder for images and containers */
  constructor(folder: string) {
    this.storage = ['--root', join(folder, 'images'), '--runroot', join(folder, 'run')];
    const base = join(folder, 'base');
    fillBase(base);
    const file = join(folder, 'Dockerfile');
    writeFileSync(file, `FROM scratch\nADD . /\nENV PATH=/usr/local/bin:/usr/bin NODE_EXTRA_CA_CERTS=${AUTHORITIES}\n`);
    this.buildah('bud', '--quiet', '--file', file, '--tag', BASE, base);
  }

  /** Builds the last stage, or the one that `--target` names. */
  build(name: string, ...options: readonly string[]): Image {
    const tag = `localhost/${name}`;
    const how = ['--isolation', 'chroot', '--layers', '--pull-never', '--format', 'docker'];
    this.buildah('bud', ...how, '--tag', tag, ...options, '.');
    const root = this.buildah('mount', this.buildah('from', '--pull-never', tag));
    const { Docker } = JSON.parse(this.buildah('inspect', '--type', 'image', tag));
    return { root, config: Docker.config };
  }

  /** Unmounts what it built, so that the folder can be removed. */
  close(): void {
    this.buildah('rm', '--all');
  }

  private buildah(...args: readonly string[]): string {
    const output = execFileSync('buildah', [...this.storage, ...args], {
      encoding: 'utf8',
      maxBuffer: MAX_OUTPUT_BYTES,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return output.trim();
  }
}

function fillBase(base: string): void {
  for (const folder of list`dev  etc  proc  sys  tmp  usr/bin  usr/lib  usr/lib64  usr/local/bin`)
    mkdirSync(join(base, folder), { recursive: true });
  for (const folder of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${folder}`, join(base, folder));
  const copy = (from: string, to = from) => {
    mkdirSync(dirname(join(base, to)), { recursive: true });
    cpSync(realpathSync(from), join(base, to), { recursive: true });
  };
  copy(AUTHORITIES);
  copy(process.execPath, 'usr/local/bin/node');
  const programs = PROGRAMS.map((name) => `/usr/bin/${name}`);
  for (const program of programs) copy(program);
  const drivers = readdirSync('node_modules/@libsql')
    .filter((name) => name.endsWith('-gnu'))
    .map((name) => `node_modules/@libsql/${name}/index.node`);
  const libraries = execFileSync('ldd', [process.execPath, ...programs, ...drivers], { encoding: 'utf8' });
  for (const [library] of libraries.matchAll(/\/[^\s:]+\.so[^\s:]*/g)) copy(library);
  const npm = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  const cli = realpathSync(npm);
  copy(dirname(dirname(cli)), 'usr/local/lib/npm');
  symlinkSync('../lib/npm/bin/npm-cli.js', join(base, 'usr/local/bin/npm'));
}
