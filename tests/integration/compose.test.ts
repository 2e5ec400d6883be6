import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { load } from 'js-yaml';
import { loadSettings } from '#src/config/settings.js';
import { freePort } from '../support/free-port.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

interface Compose {
  readonly services: {
    readonly redis: { readonly command: readonly string[]; readonly healthcheck: { readonly test: readonly string[] } };
  };
}

describe('the passwords of docker-compose.yml', () => {
  const folder = temporaryFolder();
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const make = (environment: Record<string, string> = {}) =>
    execFileSync('config/make-passwords.sh', {
      env: { ...process.env, SECRETS_FOLDER: folder, MONGO_OWNER: `${process.getuid?.()}`, ...environment },
    });
  const settings = () => loadSettings({ CONFIG_FILE: join(folder, 'settings/settings.json'), STORE: 'mongodb' });

  before(() => {
    for (const reader of ['redis', 'mongo', 'settings']) mkdirSync(join(folder, reader));
    make();
  });

  it('are random, one for each user, and those of the settings of the service', () => {
    const passwords = ['redis/password', 'mongo/catalogue', 'mongo/admin'].map(read);
    for (const password of passwords) expect(password).to.match(/^[0-9a-f]{48}$/);
    expect(new Set(passwords)).to.have.property('size', 3);
    expect(settings()).to.deep.include({
      REDIS_URL: `redis://:${passwords[0]}@redis:6379`,
      MONGODB_URL: `mongodb://catalogue:${passwords[1]}@mongo:27017/catalogue?replicaSet=rs0&authSource=admin`,
    });
  });

  it('have a key for the members of MongoDB that only its user can read', () => {
    expect(read('mongo/key')).to.match(/^[\w+/=\n]{1000,1024}$/);
    expect(statSync(join(folder, 'mongo/key')).mode & 0o777).to.equal(0o400);
  });

  it('stay the same at the next start', () => {
    const all = () =>
      ['redis/password', 'mongo/catalogue', 'mongo/admin', 'mongo/key', 'settings/settings.json'].map(read);
    const first = all();
    make();
    expect(all()).to.deep.equal(first);
  });

  it('have one for PostgreSQL if its file is on top, which may be chosen', () => {
    mkdirSync(join(folder, 'postgresql'));
    make({ POSTGRES_PASSWORD: 'chosen' });
    make();
    expect(settings().POSTGRESQL_URL).to.equal('postgresql://catalogue:chosen@postgresql/catalogue?sslmode=disable');
  });

  describe('with Redis', () => {
    const { redis } = (load(readFileSync('docker-compose.yml', 'utf8')) as Compose).services;
    let port: number;
    let server: ChildProcess;
    /** The text of a command as a container gets it, with the paths and the port of this test. */
    const ofTest = (text = '') =>
      text
        .replaceAll('$$', '$')
        .replaceAll('/secrets', join(folder, 'redis'))
        .replace('save ""', `save ""\nport ${port}`)
        .replace('redis-cli', `redis-cli -p ${port}`);

    before('start it by its command', async () => {
      port = await freePort();
      server = spawn('sh', ['-c', ofTest(redis.command[2])], { cwd: folder, stdio: 'ignore' });
      await until('it is healthy', () => execFileSync('sh', ['-c', ofTest(redis.healthcheck.test[1])]));
    });
    after(() => server?.kill());

    it('are wanted', () => {
      expect(execFileSync('redis-cli', ['-p', `${port}`, 'ping'], { encoding: 'utf8' })).to.include('NOAUTH');
      const { password } = new URL(settings().REDIS_URL);
      const env = { ...process.env, REDISCLI_AUTH: password };
      expect(execFileSync('redis-cli', ['-p', `${port}`, 'ping'], { encoding: 'utf8', env })).to.equal('PONG\n');
    });
  });
});
