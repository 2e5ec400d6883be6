import { expect } from 'chai';
import { columnsOf } from '#src/adapters/outbound/postgresql/columns.js';
import { LAST_TAKEN, MIGRATIONS } from '#src/adapters/outbound/postgresql/migrations.js';
import { checkServer } from '#src/adapters/outbound/postgresql/schema.js';
import { PostgresqlStore, prepared } from '#src/adapters/outbound/postgresql/store.js';
import { StoreConfigError } from '#src/application/ports/store.js';
import { AppError } from '#src/domain/errors.js';
import { HAS_POSTGRESQL, type PostgresqlServer, patient, sharedPostgresql } from '../support/postgresql-server.js';
import { ENDLESS, TABLES } from '../support/tables.js';

const FACTS = {
  version: 150_000,
  name: '15.0',
  encoding: 'UTF8',
  commit: 'on',
  hasStandbys: false,
  isReadOnly: false,
  hasFsync: true,
  isolation: 'read committed',
  statementMs: 0,
  hasSession: true,
  now: 0,
};

if (HAS_POSTGRESQL)
  describe('a store on PostgreSQL', () => {
    let server: PostgresqlServer;
    let url: string;
    const stores: PostgresqlStore[] = [];
    const store = (at = url) => {
      const made = new PostgresqlStore(patient(at), ENDLESS);
      stores.push(made);
      return made;
    };
    const expectConfigError = (error: unknown, reason: RegExp) =>
      expect(error).to.be.instanceOf(StoreConfigError).with.property('message').that.matches(reason);
    const failure = (at?: string) =>
      store(at)
        .open()
        .then(() => undefined)
        .catch((error: unknown) => error);
    const withOption = (option: string) => url.replace(/$/, `%20-c%20${option}`);

    beforeEach(async () => {
      server = await sharedPostgresql();
      url = await server.createSchema();
    });
    afterEach(async () => {
      for (const one of stores.splice(0)) await one.close();
      await server.dropSchema(url);
    });

    it('has the columns of the tables after its steps', async () => {
      await store().open();
      const text = `SELECT attrelid::regclass::text, quote_ident(attname), format_type(atttypid, NULL)
        FROM pg_attribute WHERE attrelid = ANY($1::regclass[]) AND attnum > 0 AND NOT attisdropped`;
      const rows = await stores[0]?.run({ text }, [TABLES.map(({ name }) => name)]);
      const wanted = TABLES.flatMap((table) => [
        `${table.name} deleted_at bigint`,
        ...(table.hasFeed ? [`${table.name} change xid8`, `${table.name} deleted_version bigint`] : []),
        ...columnsOf(table).map(({ name, type }) => `${table.name} ${name} ${type}`),
      ]);
      const quoted = (name: string) => name.replaceAll(/"([a-z_]+)"/g, '$1');
      expect(rows?.map((row) => quoted(row.join(' ')))).to.have.members(wanted.map(quoted));
    });

    it('is opened by several processes at once', async () => {
      await Promise.all(Array.from({ length: 8 }, () => store().open()));
      await Promise.all(stores.map((one) => one.ping()));
      expect((await server.query('SELECT version, demands FROM schema_version', url)).rows).to.deep.equal([
        { version: MIGRATIONS.length, demands: 1 },
      ]);
    });

    it('works with a schema to which a later release has added something', async () => {
      await store().open();
      await server.query('UPDATE schema_version SET version = 99', url);
      expect(await failure()).to.equal(undefined);
    });

    it('brings the schema of the last unreleased build to its own, and keeps the records', async () => {
      const described = async () =>
        (
          await server.query(
            `SELECT indexdef AS definition FROM pg_indexes WHERE schemaname = current_schema() UNION ALL
              SELECT concat_ws(' ', table_name, column_name, data_type, column_default) FROM information_schema.columns
                WHERE table_schema = current_schema() ORDER BY 1`,
            url,
          )
        ).rows;
      await store().open();
      const wanted = await described();
      await server.query(
        `${TABLES.map(({ name }) => `DROP INDEX ${name}_derived; ALTER TABLE ${name} ALTER derived DROP DEFAULT;`).join('')}
        ALTER TABLE products DROP "gtin folded"; ALTER TABLE products DROP long_text;
        DROP INDEX products_long_text, users_long_text; ALTER TABLE users DROP long_text; DROP TABLE leases;
        CREATE INDEX products_doubtful ON products (id); CREATE INDEX products_outdated ON products (id);
        CREATE INDEX users_doubtful ON users (id); UPDATE schema_version SET version = ${LAST_TAKEN};
        INSERT INTO products (id, version, created_at, updated_at, fields, derived) VALUES (1, 1, 1, 1, '{}', 4000001)`,
        url,
      );
      await store().open();
      expect(await described()).to.deep.equal(wanted);
      const statement = 'SELECT version, (SELECT count(*)::int AS records FROM products) FROM schema_version';
      const counted = await server.query(statement, url);
      expect(counted.rows).to.deep.equal([{ version: MIGRATIONS.length, records: 1 }]);
    });

    it('refuses the schema of another unreleased build, with the commit that upgrades it', async () => {
      await store().open();
      await server.query('UPDATE schema_version SET version = 5', url);
      expectConfigError(await failure(), /schema 5 of an unreleased build.* commit 6824beef .* to 11/);
    });

    it('refuses a schema that demands a later release', async () => {
      await store().open();
      await server.query('UPDATE schema_version SET version = 99, demands = 99', url);
      expectConfigError(await failure(), /later release/);
    });

    it('refuses a server that loses acknowledged writes', async () => {
      expectConfigError(await failure(withOption('synchronous_commit=off')), /synchronous_commit=off/);
      expect(await failure(withOption('synchronous_commit=local'))).to.equal(undefined);
      expect(() => checkServer({ ...FACTS, commit: 'local', hasStandbys: true })).to.throw(StoreConfigError, /local/);
      expect(() => checkServer({ ...FACTS, commit: 'on', hasStandbys: true })).not.to.throw();
    });

    it('refuses a program between that drops its settings, and a role that lacks them', () => {
      const refusal = (facts: object, roleMs?: number) =>
        expect(() => checkServer({ ...FACTS, ...facts }, roleMs))
          .to.throw(StoreConfigError)
          .with.property('message');
      refusal({ hasSession: null }).that.matches(/drops the settings.* POSTGRESQL_PREPARED to off/);
      refusal({ isolation: 'serializable' }).that.matches(/default_transaction_isolation=serializable/);
      for (const statementMs of [0, 1_501]) refusal({ statementMs }, 1_500).that.matches(/needs 1 to 1500/);
      expect(() => checkServer({ ...FACTS, statementMs: 1_500, hasSession: null }, 1_500)).not.to.throw();
    });

    it('names statements only if its connections are sessions', async () => {
      const [schema = ''] = /test_\w+/.exec(url) ?? [];
      await server.query(`CREATE ROLE ${schema} LOGIN SUPERUSER; ALTER ROLE ${schema} SET search_path = ${schema};
        ALTER ROLE ${schema} SET statement_timeout = '1s'`);
      const namesOf = async (at: string, hasSessions: boolean) => {
        const made = new PostgresqlStore(patient(at), ENDLESS, { hasSessions });
        stores.push(made);
        await made.open();
        const rows = await made.run<[string]>(prepared('SELECT name FROM pg_prepared_statements'), []);
        return rows.length;
      };
      expect(await namesOf(url, true)).to.equal(1);
      expect(await namesOf(server.url().replace('//postgres', `//${schema}`), false)).to.equal(0);
    });

    it('refuses an older server', () => {
      expect(() => checkServer({ ...FACTS, version: 140_019 })).to.throw(StoreConfigError, /older than PostgreSQL 15/);
      expect(() => checkServer(FACTS)).not.to.throw();
    });

    it('refuses a database of another encoding, one that does not exist, and an unknown name', async () => {
      await server.query('CREATE DATABASE bytes ENCODING SQL_ASCII TEMPLATE template0');
      const other = (from: RegExp, to: string) => server.url().replace(from, to);
      expectConfigError(await failure(other(/\/postgres$/, '/bytes')), /SQL_ASCII/);
      await server.query('DROP DATABASE bytes');
      expect(await failure(other(/\/postgres$/, '/none'))).to.be.instanceOf(StoreConfigError);
      expect(await failure(other(/\/\/postgres/, '//nobody'))).to.be.instanceOf(StoreConfigError);
    });

    it('refuses a database without the language of its triggers', async () => {
      await server.query('CREATE DATABASE speechless');
      const other = server.url().replace(/postgres$/, 'speechless');
      await server.query('DROP EXTENSION plpgsql', other);
      expectConfigError(await failure(other), /language "plpgsql" does not exist/);
      for (const one of stores) await one.close();
      await server.query('DROP DATABASE speechless');
    });

    it('refuses a schema that does not exist, and a role without the rights', async () => {
      expect(await failure(server.url({ options: '-c search_path=none' }))).to.be.instanceOf(StoreConfigError);
      await server.query('CREATE ROLE weak LOGIN');
      expect(await failure(url.replace('//postgres', '//weak'))).to.be.instanceOf(StoreConfigError);
      await server.query('DROP ROLE weak');
    });

    it('is unavailable on a server that only reads', async () => {
      expect(await failure(withOption('default_transaction_read_only=on')))
        .to.be.instanceOf(AppError)
        .with.property('code', 'unavailable');
    });

    it('is unavailable before it is open, and after it is closed', async () => {
      const code = (one: PostgresqlStore) =>
        one
          .ping()
          .then(() => 'ok')
          .catch((error: AppError) => error.code);
      const one = store();
      expect(await code(one)).to.equal('unavailable');
      await one.open();
      expect(await code(one)).to.equal('ok');
      await one.close();
      await one.close();
      expect(await code(one)).to.equal('unavailable');
    });
  });
