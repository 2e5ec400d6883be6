import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../../tests/support/free-port.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';
import { type Image, ImageBuilder } from './image-builder.js';

/** With base images of up to 85 MB, the image stays far below 200 MB. */
const MAX_COMPRESSED_BYTES = 20_000_000;
const START_LIMIT_MS = 120_000;
/** `e_machine` of an ELF file for AArch64. */
const EM_AARCH64 = 183;
describe('the image', function () {
  this.timeout(600_000);
  let builder: ImageBuilder | undefined;
  after('unmount it', () => builder?.close());
  const folder = temporaryFolder();
  let image: Image;
  let arm64: Image;

  before('build it', () => {
    builder = new ImageBuilder(folder);
    image = builder.build('catalogue');
    arm64 = builder.build('catalogue-arm64', '--target', 'production', '--build-arg', 'TARGETARCH=arm64');
  });

  const serviceOf = ({ root }: Image) => join(root, 'service');

  /** The packages in node_modules, with scopes. */
  function packagesIn(modules: string): string[] {
    return readdirSync(modules)
      .filter((name) => !name.startsWith('.'))
      .flatMap((name) =>
        name.startsWith('@') ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
      );
  }

  it('runs as a user who is not root, named by number', () => {
    expect(image.config.User).to.match(/^[1-9]\d*:[1-9]\d*$/);
  });

  it('runs no command in its last stage, so that a build for another platform needs no emulation', () => {
    const [stage = ''] = readFileSync('Dockerfile', 'utf8')
      .split(/^FROM /m)
      .slice(-1);
    expect(stage)
      .to.match(/^COPY /m)
      .and.not.match(/^RUN /m);
  });

  it('has the title and the licence in its labels', () => {
    const { license } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(image.config.Labels).to.include({ 'org.opencontainers.image.licenses': license });
    expect(image.config.Labels).to.have.property('org.opencontainers.image.title');
  });

  it('has the packages of the native library for its platform only', () => {
    for (const { name, built } of [
      { name: 'linux-x64-gnu', built: image },
      { name: 'linux-arm64-gnu', built: arm64 },
    ]) {
      const installed = packagesIn(join(serviceOf(built), 'node_modules'));
      expect(installed.filter((one) => one.startsWith('@libsql/'))).to.include(`@libsql/${name}`);
      expect(installed.filter((one) => /^@libsql\/(darwin|linux|win32)-/.test(one))).to.have.length(1);
      expect(installed.filter((one) => !one.startsWith('@libsql/'))).to.have.members([
        'libsql',
        '@neon-rs/load',
        'detect-libc',
      ]);
    }
  });

  it('has a native library for the processor of each platform', () => {
    const library = join(serviceOf(arm64), 'node_modules/@libsql/linux-arm64-gnu/index.node');
    expect(readFileSync(library).readUInt16LE(18)).to.equal(EM_AARCH64);
  });

  it('adds at most 20 MB to its base', () => {
    const compressed = execFileSync('tar', ['-cz', '-C', image.root, 'service'], { maxBuffer: 2 ** 30 });
    expect(compressed.length).to.be.lessThan(MAX_COMPRESSED_BYTES);
  });

  describe('with a read-only file system', () => {
    let ports: { PORT: string; MANAGEMENT_PORT: string };
    let service: ChildProcess;
    let out = '';

    /** Runs a command as an engine does: as the user of the image, and writing to /data only. */
    const run = (command: readonly string[]) => {
      const { User, Env, WorkingDir } = image.config;
      const enter =
        'mount --bind "$ROOT" "$ROOT" && mount -o remount,bind,ro "$ROOT" && ' +
        'mount --bind "$DATA" "$ROOT/data" && ' +
        `exec chroot --userspec=${User} "$ROOT" /usr/bin/env -i "PORT=$PORT" "MANAGEMENT_PORT=$MANAGEMENT_PORT" ` +
        `${Env.map((one) => `'${one}'`).join(' ')} /bin/sh -c 'cd ${WorkingDir} && exec "$@"' - "$@"`;
      return spawn('unshare', ['--mount', 'sh', '-c', enter, '-', ...command], {
        env: { PATH: process.env['PATH'], ROOT: image.root, DATA: join(folder, 'data'), ...ports },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    };

    /** Runs a command to its end. */
    const finish = async (command: readonly string[]) => {
      const child = run(command);
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (chunk) => {
          output += chunk;
        });
      const [code] = await once(child, 'close');
      return { code, output };
    };

    before('start it', async () => {
      const data = join(folder, 'data');
      const { uid, gid } = statSync(join(image.root, 'data'));
      mkdirSync(data);
      chownSync(data, uid, gid);
      ports = { PORT: String(await freePort()), MANAGEMENT_PORT: String(await freePort()) };
      service = run(image.config.Cmd);
      service.stdout?.on('data', (chunk) => {
        out += chunk;
      });
      let log = '';
      service.stderr?.on('data', (chunk) => {
        log += chunk;
      });
      await until(
        'the service prints its first key',
        () => {
          if (!/pcs_\w+/.test(out)) throw new Error(log);
        },
        START_LIMIT_MS,
      );
    });
    after('end it', () => service?.kill('SIGKILL'));

    it('cannot write into the image', async () => {
      const { code, output } = await finish(['sh', '-c', 'echo >file']);
      expect(output).to.match(/Read-only file system|Permission denied/);
      expect(code).to.not.equal(0);
    });

    it('is healthy', async () => {
      const [kind, ...command] = image.config.Healthcheck.Test;
      expect(kind).to.equal('CMD');
      await until('the health check succeeds', async () => (await finish(command)).code === 0);
    });

    it('responds to a request', () => {
      const [key] = /pcs_\w+/.exec(out) ?? [];
      const url = `https://localhost:${ports.PORT}/v1/products`;
      const authority = join(folder, 'data/tls/ca.pem');
      const options = ['--silent', '--fail', '--cacert', authority, '-H', `Authorization: Bearer ${key}`];
      expect(execFileSync('curl', [...options, url], { encoding: 'utf8' })).to.equal('[]');
    });

    it('has the command line on its path', async () => {
      const { code, output } = await finish(['catalogue', 'keys', 'list']);
      expect(output).to.match(/\b1\b/);
      expect(code).to.equal(0);
    });

    it('ends cleanly, and is unhealthy then', async () => {
      service.kill('SIGTERM');
      const [code] = await once(service, 'exit');
      expect(code).to.equal(0);
      expect((await finish(image.config.Healthcheck.Test.slice(1))).code).to.equal(1);
    });
  });
});
