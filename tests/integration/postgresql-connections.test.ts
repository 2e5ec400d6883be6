import { expect } from 'chai';
import { PostgresqlStore } from '#src/adapters/outbound/postgresql/store.js';
import { QueryBudget } from '#src/application/records/lists.js';
import { AppError } from '#src/domain/errors.js';
import { FakeClock } from '../support/fakes.js';
import { HAS_POSTGRESQL, PostgresqlServer } from '../support/postgresql-server.js';
import { until } from '../support/until.js';

/** As short as a test can wait for. */
const WAITS = 'connect_timeout=20&statement_timeout=300';

if (HAS_POSTGRESQL)
  describe('the connections to PostgreSQL', () => {
    let server: PostgresqlServer;
    let url: string;
    let store: PostgresqlStore;

    const codeOf = (call: Promise<unknown>) =>
      call.then(() => 'ok').catch((error: unknown) => (error instanceof AppError ? error.code : String(error)));
    const read = () => codeOf(store.run({ text: 'SELECT 1' }, []));
    const write = (name: string) => codeOf(store.run({ text: 'INSERT INTO counters VALUES ($1, 1)' }, [name]));
    /** The server processes that serve the store. */
    const OF_STORE = `pg_stat_activity WHERE application_name = 'product-catalogue-service'`;
    const runs = (text: string) =>
      until(`the server runs ${text}`, async () => {
        const { rowCount } = await server.query(`SELECT FROM ${OF_STORE} AND state = 'active' AND query = '${text}'`);
        return rowCount === 1;
      });
    const endAll = () => server.query(`SELECT pg_terminate_backend(pid) FROM ${OF_STORE}`);
    const open = async (waits = WAITS) => {
      store = new PostgresqlStore(`${url}&${waits}`, new QueryBudget(new FakeClock(), 400));
      await store.open();
    };

    before(async () => {
      server = await PostgresqlServer.start();
    });
    after(() => server.kill());
    beforeEach(async () => {
      url = await server.createSchema();
      await open();
    });
    afterEach(() => store.close());

    it('that end while a statement runs fail its caller alone', async () => {
      await store.close();
      await open('statement_timeout=100000');
      const running = codeOf(store.run({ text: 'SELECT pg_sleep(99)' }, []));
      await runs('SELECT pg_sleep(99)');
      await endAll();
      expect(await running).to.equal('unavailable');
      expect(await read()).to.equal('ok');
    });

    it('that end while nothing runs on them are replaced', async () => {
      await Promise.all([read(), read(), read()]);
      await endAll();
      await until('the store notices', () => store.pools().every(({ used, idle }) => used + idle === 0));
      expect(await Promise.all([read(), read(), read()])).to.deep.equal(['ok', 'ok', 'ok']);
    });

    const pid = async () => (await store.run<[number]>({ text: 'SELECT pg_backend_pid()' }, []))[0]?.[0];

    it('stay after an error of a statement', async () => {
      const first = await pid();
      expect(await codeOf(store.run({ text: 'SELECT 1 / 0' }, []))).to.match(/division by zero/);
      expect(await pid()).to.equal(first);
    });

    it('are free again after the time of a statement, which is unavailable, or of a search, which is too expensive', async () => {
      expect(await codeOf(store.run({ text: 'SELECT pg_sleep(99)' }, []))).to.equal('unavailable');
      expect(await codeOf(store.search({ text: 'SELECT pg_sleep(99)' }, []))).to.equal('query_too_expensive');
      await until('no connection is used', () => store.pools().every(({ used }) => used === 0));
    });

    it('are unavailable while the server is gone, and work when it is back', async () => {
      await store.close();
      await open('statement_timeout=100000');
      const running = codeOf(store.run({ text: 'SELECT pg_sleep(99)' }, []));
      await runs('SELECT pg_sleep(99)');
      await server.kill();
      expect(await running, 'a call without an answer').to.equal('unavailable');
      expect([await read(), await write('lost')]).to.deep.equal(['unavailable', 'unavailable']);
      await server.run();
      await until('the store is back', async () => (await read()) === 'ok');
      expect(await write('kept')).to.equal('ok');
      const { rows } = await server.query('SELECT name FROM counters', url);
      expect(rows).to.deep.equal([{ name: 'kept' }]);
    });

    it('are unavailable while their name must not log in', async () => {
      await server.query('CREATE ROLE service LOGIN SUPERUSER');
      await store.close();
      url = url.replace('//postgres', '//service');
      await open();
      await server.query('ALTER ROLE service NOLOGIN');
      await endAll();
      expect(await read()).to.equal('unavailable');
      await server.query('ALTER ROLE service LOGIN');
      await until('the store is back', async () => (await read()) === 'ok');
    });

    it('read on from a server that only reads, and write nothing', async () => {
      const only = (value: string) =>
        server
          .query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
          .then(() => server.query('SELECT pg_reload_conf()'));
      await only('on');
      const first = await pid();
      await until('the server only reads', async () => (await write('a')) === 'unavailable');
      expect(await read()).to.equal('ok');
      expect(await pid(), 'a connection that may lead to another server').not.to.equal(first);
      const admin = server.url({ options: '-c default_transaction_read_only=off' });
      await server.query('ALTER SYSTEM RESET default_transaction_read_only', admin);
      await server.query('SELECT pg_reload_conf()', admin);
      await until('the server writes', async () => (await write('b')) === 'ok');
    });

    it('are unavailable if the server has none left', async () => {
      await server.stop();
      await server.run(['max_connections=12', 'superuser_reserved_connections=0']);
      await store.close();
      await open();
      const others: Promise<unknown>[] = [];
      await until('nobody gets a connection', () => {
        others.push(server.query('SELECT pg_sleep(99)').catch(() => {}));
        return server
          .query('SELECT 1')
          .then(() => false)
          .catch(() => true);
      });
      expect(await read()).to.equal('unavailable');
      await server.kill();
      await Promise.all(others);
      await server.run();
      await until('the store is back', async () => (await read()) === 'ok');
    });

    it('are unavailable while the server is suspended: after the first caller has waited, at once', async () => {
      await read();
      server.suspend();
      const waiting = [read(), write('first'), codeOf(store.search({ text: 'SELECT 1' }, []))];
      expect(await Promise.all(waiting)).to.deep.equal(waiting.map(() => 'unavailable'));
      let code = 'none yet';
      void read().then((refused) => (code = refused));
      await new Promise(setImmediate);
      expect(code).to.equal('unavailable');
      server.resume();
      await until('the store is back', async () => (await read()) === 'ok');
    });
  });
