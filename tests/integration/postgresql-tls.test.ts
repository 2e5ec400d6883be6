import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { chain } from '../support/certificate-chain.js';
import { ChildProcessService, catalogue } from '../support/child-process-service.js';
import { HAS_POSTGRESQL, PostgresqlServer } from '../support/postgresql-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const PASSWORD = 'hunter2-of-the-database';

if (HAS_POSTGRESQL)
  describe('TLS to PostgreSQL, and a password', () => {
    const root = temporaryFolder();
    const folder = () => mkdtempSync(join(root, 'run-'));
    const [authority, other] = [join(root, 'ca.pem'), join(root, 'other.pem')];
    let server: PostgresqlServer;

    before(async () => {
      const { cert, key, authority: ca } = await chain('EC');
      writeFileSync(authority, ca);
      writeFileSync(other, (await chain('EC')).authority);
      server = await PostgresqlServer.start();
      await server.query(`CREATE ROLE service LOGIN SUPERUSER PASSWORD '${PASSWORD}'`);
      server.write(
        'data/pg_hba.conf',
        'host all postgres 127.0.0.1/32 trust\nhostssl all service 127.0.0.1/32 scram-sha-256\n',
      );
      const files = [`ssl_cert_file=${server.write('cert.pem', cert)}`, `ssl_key_file=${server.write('key.pem', key)}`];
      await server.stop();
      await server.run(['ssl=on', ...files]);
    });
    after(() => server.kill());

    /** @param host the certificate is that of `localhost` */
    const url = (host: string, parameters: string, password = PASSWORD) =>
      `postgresql://service:${password}@${host}:${server.port}/postgres?${parameters}`;
    const verified = `sslmode=verify-full&sslrootcert=${authority}`;
    const settings = (POSTGRESQL_URL: string) => ({ STORE: 'postgresql', POSTGRESQL_URL });

    it('is used, with a certificate of the CA for the name of the server', async () => {
      const service = new ChildProcessService(folder(), settings(url('localhost', verified)));
      const client = await service.started();
      expect((await client.post('/products', { name: 'Lamp' })).status).to.equal(201);
      const { rows } = await server.query(
        `SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'service'`,
      );
      expect(rows).to.deep.equal([{ ssl: true }]);
      client.close();
      await service.stop();
      expect(service.out + service.log).to.not.include(PASSWORD);
    });

    for (const [name, to, reason] of [
      [
        'if the certificate is of another CA',
        () => url('localhost', `sslmode=verify-full&sslrootcert=${other}`),
        /certificate.* not accepted/,
      ],
      [
        'if it is of a CA that this computer does not know',
        () => url('localhost', 'sslmode=verify-full'),
        /certificate.* not accepted/,
      ],
      ['if it is for another name', () => url('127.0.0.1', verified), /certificate.* not accepted/],
      [
        'if the file of the CA is missing',
        () => url('localhost', `sslmode=verify-full&sslrootcert=${root}/none.pem`),
        /file .* cannot be read/,
      ],
      ['without TLS, which the server demands', () => url('localhost', ''), /28000/],
      ['with a wrong password', () => url('localhost', verified, `wrong-${PASSWORD}`), /28P01/],
    ] as const)
      it(`is wrong, says check, ${name}`, async () => {
        const { code, out, err } = await catalogue(folder(), ['check'], settings(to()));
        expect(code, out).to.equal(1);
        expect(out).to.match(/^wrong +store +/m);
        expect(out).to.match(reason);
        expect(out + err).to.not.include(PASSWORD);
      });

    it('is demanded of another machine, whose certificate the URL does not name', async () => {
      const service = new ChildProcessService(folder(), settings(url('0.0.0.0', '')));
      expect((await service.exit).code, service.log).to.equal(78);
      expect(service.log).to.match(/certificate.* not accepted/);
    });

    it('is left out to another machine if the URL says so, of which the start warns', async () => {
      const at = `postgresql://postgres@0.0.0.0:${server.port}/postgres?sslmode=disable`;
      const service = new ChildProcessService(folder(), settings(at));
      (await service.started()).close();
      await service.stop();
      expect(service.log).to.match(/not encrypted: POSTGRESQL_URL says sslmode=disable/);
    });

    it('ends the start with exit code 78 if it is wrong, and the log has no password', async () => {
      const wrong = url('localhost', verified, `wrong-${PASSWORD}`);
      const service = new ChildProcessService(folder(), settings(wrong));
      expect((await service.exit).code, service.log).to.equal(78);
      expect(service.log).to.match(/28P01/);
      expect(service.out + service.log).to.not.include(PASSWORD);
    });

    it('is missed by check if the server is another machine', async () => {
      const warned = async (host: string, parameters: string) => {
        const at = `postgresql://postgres@${host}:${server.port}/postgres?${parameters}`;
        return /^warning +store .*not encrypted/m.test((await catalogue(folder(), ['check'], settings(at))).out);
      };
      expect([
        await warned('127.0.0.1', ''),
        // The same computer, but not by a name that says so.
        await warned('0.0.0.0', 'sslmode=disable'),
        await warned('0.0.0.0', ''),
        await warned('localhost', verified),
      ]).to.deep.equal([false, true, false, false]);
    });
  });
