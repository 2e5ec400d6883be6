import { expect } from 'chai';
import { checkPostgresql } from '#src/adapters/outbound/postgresql/check.js';
import { MIGRATIONS } from '#src/adapters/outbound/postgresql/migrations.js';
import { PostgresqlStore } from '#src/adapters/outbound/postgresql/store.js';
import { TABLES } from '#src/composition/tables.js';
import { openStore } from '../stores/provider.js';
import { freePort } from '../support/free-port.js';
import { HAS_POSTGRESQL, type PostgresqlServer, sharedPostgresql } from '../support/postgresql-server.js';
import { ENDLESS } from '../support/tables.js';

const UNKNOWN = 'is stored with values that this release does not know:';

if (HAS_POSTGRESQL)
  describe('the check of PostgreSQL', () => {
    let server: PostgresqlServer;
    let url: string;
    const check = (at = url) => checkPostgresql(at, TABLES, () => 7);
    const texts = async (at?: string) =>
      (await check(at)).diagnoses.map(({ verdict, subject, message }) => `${verdict} ${subject} ${message}`);

    beforeEach(async () => {
      server = await sharedPostgresql();
      url = await server.createSchema();
    });
    afterEach(() => server.dropSchema(url));

    const open = async () => {
      const store = new PostgresqlStore(url, ENDLESS);
      await store.open();
      await store.close();
    };

    it('names the server and its clock, and makes no schema', async () => {
      const { diagnoses, time } = await check();
      expect(diagnoses[0]?.message).to.match(
        /^PostgreSQL [\d.]+.* responds \(127\.0\.0\.1:\d+, database postgres, schema/,
      );
      expect(diagnoses[1]).to.include({ verdict: 'ok', message: 'there is none; the first start makes it' });
      expect(time).to.include({ kind: 'now', of: "PostgreSQL's clock", readAt: 7 });
      expect(time?.at).to.be.a('number');
      const statement = 'SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace';
      const { rows } = await server.query(statement, url);
      expect(rows).to.deep.equal([]);
    });

    it('warns of a server that a loss of power can destroy, as that of the tests', async () => {
      expect((await texts()).at(-1)).to.match(/^warning store the server has fsync=off/);
    });

    it('knows the version of the schema, and steps that are missing', async () => {
      await open();
      expect(await texts()).to.include(`ok schema it is of version ${MIGRATIONS.length}`);
      await server.query('UPDATE schema_version SET version = 0; DROP TABLE schema_version', url);
      expect(await texts()).to.include('ok schema there is none; the first start makes it');
    });

    it('names webhooks that this release cannot use', async () => {
      await open();
      const insert = (id: number, fields: string) =>
        server.query(`INSERT INTO webhooks (id, version, fields) VALUES (${id}, 1, '${fields}')`, url);
      await insert(7, '{"resources":["baskets"]}');
      await insert(8, '{');
      expect((await texts()).filter((text) => text.startsWith('wrong webhooks'))).to.deep.equal([
        `wrong webhooks record 7 ${UNKNOWN} url, resources, createdBy, secret, starts`,
        `wrong webhooks record 8 ${UNKNOWN} url, resources, createdBy, secret, starts`,
      ]);
    });

    it('finds indexes that the server has not finished', async () => {
      await open();
      await server.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'products_name'::regclass`, url);
      expect(await texts()).to.include('wrong schema these indexes are invalid: products_name');
    });

    it('finds a feed that is on without its triggers, which the next start mends', async () => {
      const store = await openStore({ STORE: 'postgresql', POSTGRESQL_URL: url });
      await store.feedState.turnOn();
      const sound = `ok schema it is of version ${MIGRATIONS.length}`;
      expect(await texts()).to.include(sound);
      for (const change of ['DISABLE TRIGGER feed_update', 'DISABLE TRIGGER USER']) {
        await server.query(`ALTER TABLE users ${change}; DROP TRIGGER feed_insert ON orders`, url);
        expect(await texts()).to.include(
          'wrong schema the triggers of these feeds are missing or disabled, so that changes are lost: orders, users',
        );
        await store.feedState.turnOn();
        expect(await texts()).to.include(sound);
      }
      await store.feedState.turnOff();
      expect(await texts()).to.include(sound);
      await store.close();
    });

    it('knows a role that may not make the tables', async () => {
      const schema = /search_path%3D(\w+)/.exec(url)?.[1] ?? /search_path=(\w+)/.exec(decodeURIComponent(url))?.[1];
      await server.query(`CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA "${schema}" TO reader`, url);
      try {
        const asReader = url.replace('//postgres', '//reader');
        expect(await texts(asReader)).to.include('wrong schema the role may not create tables');
      } finally {
        await server.query(`REVOKE USAGE ON SCHEMA "${schema}" FROM reader; DROP ROLE reader`, url);
      }
    });

    it('tells a wrong URL from a server that does not respond, and quotes no password', async () => {
      expect(await texts('postgresql://ann:secret@h/d?x=1')).to.deep.equal([
        `wrong store POSTGRESQL_URL sets x, which is not possible; it may set ${ALLOWED}`,
      ]);
      const nowhere = `postgresql://ann:secret@127.0.0.1:${await freePort()}/d`;
      expect(await texts(nowhere)).to.deep.equal([
        'wrong store PostgreSQL cannot be used now: connection refused (ECONNREFUSED)',
      ]);
      expect(await texts(url.replace('//postgres', '//ann:secret'))).to.deep.equal([
        'wrong store The server refuses POSTGRESQL_URL: role "ann" does not exist (28000)',
      ]);
    });
  });

const ALLOWED =
  'application_name, connect_timeout, host, options, sslcert, sslkey, sslmode, sslnegotiation, sslrootcert, statement_timeout';
