/** PgBouncer in transaction mode, which gives each statement of a connection any session of the server. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PostgresqlStore } from '#src/adapters/outbound/postgresql/store.js';
import { StoreConfigError } from '#src/application/ports/store.js';
import { AppError } from '#src/domain/errors.js';
import { changeFeedContract } from '../../tests/contract/change-feed.contract.js';
import { idempotencyStoreContract } from '../../tests/contract/idempotency-store.contract.js';
import { lostUpdatesContract } from '../../tests/contract/lost-updates.contract.js';
import { repositoryContract } from '../../tests/contract/repository.contract.js';
import { POSTGRESQL } from '../../tests/stores/postgresql.js';
import type { TestStoreProvider } from '../../tests/stores/provider.js';
import { ChildProcessService, childProcessServices } from '../../tests/support/child-process-service.js';
import { PostgresqlServer, patient } from '../../tests/support/postgresql-server.js';
import { ENDLESS } from '../../tests/support/tables.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';
import { PgBouncer } from './pgbouncer.js';

describe('PgBouncer in transaction mode', () => {
  const folder = temporaryFolder();
  let server: PostgresqlServer;
  let bouncer: PgBouncer;
  before(async () => {
    server = await PostgresqlServer.start();
    bouncer = await PgBouncer.start(server, folder);
  });
  after(async () => {
    await bouncer.stop();
    await server.kill();
  });

  /** The URLs to the server itself, by those through PgBouncer. */
  const direct = new Map<string, string>();
  /** Makes a schema, and a role of the same name that owns it, as the documentation asks for it. */
  const createRole = async (settings: readonly string[]) => {
    const url = await server.createSchema();
    const [schema = ''] = /test_\w+/.exec(url) ?? [];
    const all = [`search_path = ${schema}`, ...settings].map((one) => `ALTER ROLE ${schema} SET ${one}`);
    await server.query([`CREATE ROLE ${schema} LOGIN`, ...all, `ALTER SCHEMA ${schema} OWNER TO ${schema}`].join(';'));
    const through = patient(bouncer.through(server.url()).replace('//postgres@', `//${schema}@`));
    direct.set(through, url);
    return through;
  };
  const AS_NEEDED = ["statement_timeout = '2s'"];

  const provider: TestStoreProvider = {
    ...POSTGRESQL,
    create: async () => {
      const settings = {
        STORE: 'postgresql',
        POSTGRESQL_URL: await createRole(AS_NEEDED),
        POSTGRESQL_PREPARED: 'off',
      };
      const schema = direct.get(settings.POSTGRESQL_URL) ?? '';
      return {
        settings,
        empty: () => server.emptySchema(schema),
        remove: () => server.dropSchema(schema),
      };
    },
  };

  repositoryContract(provider);
  idempotencyStoreContract(provider);
  changeFeedContract(provider);
  describe('two processes', () => lostUpdatesContract('postgresql', childProcessServices(2, provider).clients));

  const opened = async (url: string, hasSessions: boolean) => {
    const store = new PostgresqlStore(url, ENDLESS, { hasSessions });
    try {
      await store.open();
      return 'open';
    } catch (error) {
      return error instanceof StoreConfigError ? error.message : String(error);
    } finally {
      await store.close();
    }
  };

  it('shares the sessions of the server, in which the service leaves nothing', async () => {
    const url = await createRole(AS_NEEDED);
    const store = new PostgresqlStore(url, ENDLESS, { hasSessions: false });
    await store.open();
    const statement = {
      text: 'SELECT pg_backend_pid(), pg_sleep(0.01), count(*) FROM pg_prepared_statements',
      name: 'one',
    };
    const rows = (
      await Promise.all(Array.from({ length: 40 }, () => store.run<[number, string, number]>(statement, [])))
    ).flat();
    expect(new Set(rows.map(([pid]) => pid)).size).to.be.within(2, 4);
    expect(new Set(rows.map((row) => row[2]))).to.deep.equal(new Set([0]));
    await store.close();
  });

  it('has the time of the role for each statement, which makes a search too expensive', async () => {
    const store = new PostgresqlStore(await createRole(["statement_timeout = '300ms'"]), ENDLESS, {
      hasSessions: false,
    });
    await store.open();
    const failure = await store.search({ text: 'SELECT pg_sleep(99)' }, []).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(AppError).with.property('code', 'query_too_expensive');
    const { rowCount } = await server.query(
      `SELECT FROM pg_stat_activity WHERE state = 'active' AND query = 'SELECT pg_sleep(99)'`,
    );
    expect(rowCount).to.equal(0);
    await store.close();
  });

  it('is refused without a statement_timeout of the role, and with another isolation', async () => {
    expect(await opened(await createRole([]), false)).to.match(/role with statement_timeout=0;/);
    expect(await opened(await createRole(["statement_timeout = '3s'"]), false)).to.match(
      /role with statement_timeout=3000; POSTGRESQL_PREPARED=off needs 1 to 2000/,
    );
    expect(
      await opened(await createRole([...AS_NEEDED, "default_transaction_isolation = 'repeatable read'"]), false),
    ).to.match(/default_transaction_isolation=repeatable read/);
  });

  it('is refused with POSTGRESQL_PREPARED=on, also if it ignores the settings of the service', async () => {
    const url = await createRole(AS_NEEDED);
    expect(await opened(url, true)).to.match(/unsupported startup parameter.*\(08P01\)/);
    const ignoring = await PgBouncer.start(server, folder, ['ignore_startup_parameters = options, statement_timeout']);
    try {
      const settings = {
        STORE: 'postgresql',
        POSTGRESQL_URL: ignoring.through(direct.get(url)?.replace(/\?.*/, '') ?? ''),
      };
      const service = new ChildProcessService(mkdtempSync(join(folder, 'run-')), settings);
      expect((await service.exit).code, service.log).to.equal(78);
      expect(service.log).to.match(/drops the settings of the service, such as PgBouncer/);
    } finally {
      await ignoring.stop();
    }
  });

  it('makes the store unavailable while the server is down, also at the start, and no longer', async () => {
    const own = await PostgresqlServer.start();
    await own.query("ALTER ROLE postgres SET statement_timeout = '2s'");
    const before = await PgBouncer.start(own, folder);
    const url = patient(before.through(own.url()));
    const store = new PostgresqlStore(url, ENDLESS, { hasSessions: false });
    await store.open();
    const code = (call: Promise<unknown>) =>
      call.then(
        () => 'ok',
        (error: unknown) => (error instanceof AppError ? error.code : String(error)),
      );
    await own.kill();
    const late = new PostgresqlStore(url, ENDLESS, { hasSessions: false });
    expect([await code(store.ping()), await code(late.open())]).to.deep.equal(['unavailable', 'unavailable']);
    await own.run();
    await until('the store is there again', async () => (await code(store.ping())) === 'ok');
    await until('the start is possible', async () => (await code(late.open())) === 'ok');
    await store.close();
    await late.close();
    await before.stop();
    await own.kill();
  });
});
