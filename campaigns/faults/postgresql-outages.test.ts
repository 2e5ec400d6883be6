/**
 * Plays each outage of PostgreSQL while 30 clients read and write: it is cut off, suspended, killed, slower than every
 * time-out, refuses the name or the password of the service, or gives all its connections to others. Each write has an
 * idempotency key and is repeated until it is acknowledged. Responses are 503 with `Retry-After`, never 500; readiness
 * turns in both directions. Faults that are no outage follow: one connection hangs, connections end at any moment, the
 * server only reads, an old transaction stays open. At the end the test looks for every acknowledged record, and for
 * doubled ones.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import type { ChildProcessService } from '../../tests/support/child-process-service.js';
import type { HttpClient } from '../../tests/support/http-client.js';
import { FIRST_KEY } from '../../tests/support/in-process-service.js';
import { HAS_POSTGRESQL, PostgresqlServer } from '../../tests/support/postgresql-server.js';
import { TEST_SEED } from '../../tests/support/run-settings.js';
import { SeededRandom } from '../../tests/support/seeded-random.js';
import { TcpProxy } from '../../tests/support/tcp-proxy.js';
import { temporaryFolder } from '../../tests/support/temporary-folder.js';
import { until } from '../../tests/support/until.js';
import { CLIENTS } from './outages/load.js';
import { type Fault, faultsOf, outagesIn } from './outages/outages.js';

/** The role of the service, which is no superuser: it has no reserved connections. */
const ROLE = 'service';
const PASSWORD = 'one';
/** Enough for eight processes. */
const MAX_CONNECTIONS = 120;
const STARTS = 8;
const TERMINATIONS = 60;
/** Longer than a caller waits for a connection that hangs. */
const HANG_MS = 5_000;

if (HAS_POSTGRESQL)
  describe('an outage of PostgreSQL', () => {
    const root = temporaryFolder();
    const { figure, start, loadOf, expectNothingLost, expectOutage, startsWithout } = outagesIn(
      'postgresql-outages',
      root,
    );
    let server: PostgresqlServer;
    let proxy: TcpProxy;
    const random = new SeededRandom(TEST_SEED);

    const run = () => server.run([`max_connections=${MAX_CONNECTIONS}`]);
    /** Settings of a service with a new, empty schema. */
    const settings = async () => {
      const schema = `of_${randomUUID().replaceAll('-', '')}`;
      await server.query(`CREATE SCHEMA ${schema} AUTHORIZATION ${ROLE}`);
      const options = `options=-c%20search_path%3D${schema}`;
      const url = `postgresql://${ROLE}:${PASSWORD}@127.0.0.1:${proxy.port}/postgres?${options}`;
      return { STORE: 'postgresql', POSTGRESQL_URL: url, LOG_LEVEL: 'warn' };
    };
    const started = async (): Promise<[HttpClient, ChildProcessService]> => {
      const service = start(await settings());
      const client = await service.started(FIRST_KEY);
      expect((await client.post('/products', { name: 'first' })).json.id).to.equal(1);
      return [client, service];
    };
    /** The server processes that serve the service. */
    const backends = async (): Promise<number[]> =>
      (await server.query(`SELECT pid FROM pg_stat_activity WHERE usename = '${ROLE}'`)).rows.map(({ pid }) => pid);
    const terminate = (pids: readonly number[]) =>
      server.query(`SELECT pg_terminate_backend(pid) FROM unnest(ARRAY[${pids}]::integer[]) AS pid`);
    const alter = async (role: string) => {
      await server.query(`ALTER ROLE ${ROLE} ${role}`);
      await terminate(await backends());
    };

    before(async () => {
      server = await PostgresqlServer.start();
      await server.stop();
      server.write('data/pg_hba.conf', `host all ${ROLE} all scram-sha-256\nhost all all all trust\n`);
      await run();
      await server.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}'`);
      await server.query('CREATE ROLE others LOGIN');
      proxy = new TcpProxy({ host: '127.0.0.1', port: server.port });
      await proxy.listen();
    });
    after(async () => {
      await proxy.close();
      server.resume();
      await server.kill();
    });

    startsWithout(() => proxy, settings);

    it(`at the start of ${STARTS} processes at once on an empty database is none, and one prints the first key`, async () => {
      const same = { ...(await settings()), BOOTSTRAP_API_KEY: '' };
      const services = Array.from({ length: STARTS }, () => start(same));
      for (const service of services) await service.prints(/listens on [\s\S]*curl/);
      const keys = services.map((service) => service.firstKey).filter((key) => key !== '');
      expect(keys).to.have.length(1);
      const clients = await Promise.all(services.map((service) => service.started(keys[0])));
      const made = await Promise.all(clients.map((client) => client.post('/products', { name: 'Lamp' })));
      expect(made.map(({ status }) => status)).to.deep.equal(made.map(() => 201));
      expect(new Set(made.map(({ json }) => json.id)).size).to.equal(STARTS);
      for (const client of clients) client.close();
    });

    it(`is 503, and ends when it is over, for ${CLIENTS} clients`, async () => {
      const [client, service] = await started();
      const others: pg.Client[] = [];
      /** Takes every connection that the service loses, until it has none. */
      const takeAll = () =>
        until('the service has no connection', async () => {
          const pids = await backends();
          await terminate(pids);
          for (let missing = pids.length + 1; missing > 0; missing--) {
            const other = new pg.Client(server.url().replace('postgres@', 'others@'));
            other.on('error', () => {});
            await other.connect().then(
              () => others.push(other),
              () => {},
            );
          }
          return (await backends()).length === 0 && others.length > 0 && (await isFull());
        });
      const isFull = async () => {
        const { rows } = await server.query(
          "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'",
        );
        // Three are reserved for superusers, one of which is asking.
        return rows[0].count >= MAX_CONNECTIONS - 3;
      };
      const faults: Readonly<Record<string, Fault>> = {
        ...faultsOf(
          {
            suspend: async () => server.suspend(),
            resume: async () => server.resume(),
            kill: () => server.kill(),
            restart: run,
          },
          proxy,
        ),
        'it is stopped and started': { begin: () => server.stop(), end: run },
        'the role may not log in': { begin: () => alter('NOLOGIN'), end: () => alter('LOGIN') },
        'the password is another': {
          begin: () => alter("PASSWORD 'two'"),
          end: () => alter(`PASSWORD '${PASSWORD}'`),
        },
        'others have all connections': {
          begin: takeAll,
          end: () => Promise.all(others.splice(0).map((other) => other.end())),
        },
      };
      for (const [name, fault] of Object.entries(faults)) await expectOutage(name, fault, client, service);
      client.close();
    });

    it('is none if one connection hangs: the requests on it are 503, others are served', async () => {
      const [client, service] = await started();
      const load = loadOf(client, service);
      await until('the load writes', () => load.acknowledged.length > 20);
      const stopped = random.oneOf(await backends());
      process.kill(stopped, 'SIGSTOP');
      const before = load.acknowledged.length;
      await sleep(HANG_MS);
      await until('others write', () => load.acknowledged.length > before + 20);
      process.kill(stopped, 'SIGCONT');
      await expectNothingLost(load, client);
      figure('one connection hangs: refused', load.refused);
      figure('one connection hangs: acknowledged meanwhile', load.acknowledged.length - before);
      client.close();
    });

    it(`is none if connections end: ${TERMINATIONS} times, one or all, at any moment`, async () => {
      const [client, service] = await started();
      const load = loadOf(client, service);
      for (let turn = 0; turn < TERMINATIONS; turn++) {
        const { length } = load.acknowledged;
        await until('the load writes again', () => load.acknowledged.length > length + random.below(20));
        const pids = await backends();
        await terminate(turn % 3 === 0 || pids.length === 0 ? pids : [random.oneOf(pids)]);
      }
      await expectNothingLost(load, client);
      figure('terminated connections: refused', load.refused);
      client.close();
    });

    it('is one of writes alone if the server only reads, until it writes again', async () => {
      const [client] = await started();
      const write = async () => (await client.post('/products', { name: 'x' })).status;
      await server.query(`ALTER ROLE ${ROLE} SET default_transaction_read_only = on`);
      await terminate(await backends());
      await until('writes are refused', async () => (await write()) === 503);
      const refused = [
        await client.post('/products', { name: 'x' }),
        await client.patch('/products/1', { name: 'x' }),
        await client.delete('/products/1'),
      ];
      for (const { status, json, headers } of refused) {
        expect([status, json.code]).to.deep.equal([503, 'unavailable']);
        expect(Number(headers['retry-after'])).to.be.within(1, 60);
      }
      for (const path of ['/products/1', '/products', '/products?q=first&limit=5'])
        expect((await client.get(path)).status, path).to.equal(200);
      expect((await client.get('/health/live', { token: null })).status).to.equal(200);
      await server.query(`ALTER ROLE ${ROLE} RESET default_transaction_read_only`);
      await terminate(await backends());
      await until('writes succeed again', async () => (await write()) === 201);
      expect((await client.get('/products/1')).json.name).to.equal('first');
      client.close();
    });

    it('is none while an old transaction stays open, which has read every table', async () => {
      const [client, service] = await started();
      const old = new pg.Client(service.environment['POSTGRESQL_URL']);
      await old.connect();
      await old.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      const count = async () => (await old.query('SELECT count(*) FROM products')).rows;
      const seen = await count();
      await old.query('SELECT FROM users, orders, api_keys, reservations, counters, schema_version');
      const load = loadOf(client, service);
      await until('the load writes', () => load.acknowledged.length > 50);
      const second = start(service.environment);
      const other = await second.started(FIRST_KEY);
      expect((await other.get('/products?q=first&limit=5')).status).to.equal(200);
      await expectNothingLost(load, client);
      expect(load.refused).to.equal(0);
      expect(await count()).to.deep.equal(seen);
      await old.end();
      other.close();
      client.close();
    });
  });
