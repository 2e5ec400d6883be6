import { MongoClient } from 'mongodb';
import { list } from './list.js';
import { MongoProcess } from './mongo-process.js';
import { MongoProxy, targetOf } from './mongo-proxy.js';
import { patience, throughProxy } from './mongo-url.js';
import { nameOf } from './mongo-wire.js';
import { callIn, PostgresqlProxy } from './postgresql-proxy.js';
import { HAS_POSTGRESQL, PostgresqlServer } from './postgresql-server.js';
import { AT_NIGHT } from './run-settings.js';

/** Longer than a server takes on a busy machine: only late replies exceed it. A caller waits up to 500 ms longer. */
const CALL_MS = 5_000;
const LATE_MS = CALL_MS + 1_000;

/** Commands of MongoDB about data. The driver sends others by itself. */
const DATA = list`insert  update  delete  findAndModify  find  getMore  aggregate  listIndexes  createIndexes`;

/** An empty store behind a proxy of its own, which plays faults. */
export interface ProxiedStore {
  /** Through the proxy. */
  readonly settings: Readonly<Record<string, string>>;
  /** Past the proxy. */
  readonly direct: Readonly<Record<string, string>>;
  /** How often each fault was played. */
  readonly played: Readonly<Record<string, number>>;
  /** What the store derives from a user for searches. */
  derivedOf(userId: number): Promise<unknown>;
  /** Makes it as if an older release had written the user. */
  forgetDerived(userId: number): Promise<void>;
  /** An index that every start makes if it is missing. Absent if a start does not look. */
  readonly index?: { dropIndex(): Promise<void>; hasIndex(): Promise<boolean> };
  close(): Promise<void>;
}

/** Returns the fault of a call, such as `insert products`; undefined lets it pass. */
export type ChooseFault = (call: string) => string | undefined;

export interface ProxiedServer {
  store(name: string, choose: ChooseFault): Promise<ProxiedStore>;
  stop(): Promise<void>;
}

/** A kind of server whose connections can be broken at each call. */
export interface ServerKind {
  readonly name: string;
  /** Faults of single calls, and of how many in a row: a driver may send a call twice. Late ones first, as they take long. */
  readonly faults: readonly (readonly [fault: string, times: number])[];
  /** Whether the service hears from the server all the time. If not, one late reply without others is an outage. */
  readonly hasHeartbeats: boolean;
  /** @param folder of its files; the caller removes it */
  start(folder: string): Promise<ProxiedServer>;
}

const faultsIn = (text: TemplateStringsArray) =>
  list(text).map((one) => [one.replace(/ .*/, ''), Number(one.replace(/.* /, ''))] as const);

const MONGODB: ServerKind = {
  name: 'MongoDB',
  hasHeartbeats: true,
  faults: faultsIn`late 1  unsent 2  halved 1  refused 2  lost 1  lost 2  failed 1  failed 2  cut 1  doubled 1
    unconfirmed 1`,
  start: async (folder) => {
    const server = await MongoProcess.onFreePort(folder);
    await server.run();
    const control = new MongoClient(server.url('admin'));
    return {
      store: async (name, choose) => {
        const proxy = new MongoProxy(
          server.port,
          (command) => (DATA.includes(nameOf(command)) ? choose(targetOf(command)) : undefined),
          LATE_MS,
        );
        await proxy.listen();
        const url = `${throughProxy(server.url(name), proxy.port)}&${patience(CALL_MS)}`;
        const users = control.db(name).collection<{ _id: number }>('users');
        return {
          settings: { STORE: 'mongodb', MONGODB_URL: url },
          direct: { STORE: 'mongodb', MONGODB_URL: `${server.url(name)}&${patience()}` },
          played: proxy.played,
          derivedOf: (_id) => users.findOne({ _id }),
          forgetDerived: async (_id) => {
            await users.updateOne({ _id }, { $unset: { words: 1, derived: 1, block: 1 } });
          },
          index: {
            dropIndex: () => users.dropIndex('live_email').then(() => {}),
            hasIndex: async () =>
              (await users.listIndexes().toArray()).some(({ name: index }) => index === 'live_email'),
          },
          close: () => proxy.close(),
        };
      },
      stop: async () => {
        await control.close();
        await server.kill();
      },
    };
  },
};

const POSTGRESQL: ServerKind = {
  name: 'PostgreSQL',
  hasHeartbeats: false,
  faults: faultsIn`late 1  unsent 1  halved 1  terminated 1  lost 1  cut 1  failed 1  answered 1`,
  start: async () => {
    const server = await PostgresqlServer.start();
    return {
      store: async (_name, choose) => {
        const proxy = new PostgresqlProxy(server.port, {
          choose: (text) => {
            const call = callIn(text);
            return call === undefined ? undefined : choose(call);
          },
          terminate: (pid) => server.query(`SELECT pg_terminate_backend(${pid}, ${CALL_MS})`),
          lateMs: LATE_MS,
        });
        await proxy.listen();
        const direct = await server.createSchema();
        const through = direct.replace(`:${server.port}/`, `:${proxy.port}/`);
        const user = (statement: string) => server.query(statement, direct);
        return {
          settings: {
            STORE: 'postgresql',
            POSTGRESQL_URL: `${through}&connect_timeout=20&statement_timeout=${CALL_MS}`,
          },
          direct: { STORE: 'postgresql', POSTGRESQL_URL: `${direct}&statement_timeout=20000` },
          played: proxy.played,
          derivedOf: async (id) => (await user(`SELECT * FROM users WHERE id = ${id}`)).rows,
          forgetDerived: async (id) => {
            await user(`UPDATE users SET words = NULL, derived = 0 WHERE id = ${id}`);
          },
          close: () => proxy.close(),
        };
      },
      stop: () => server.kill(),
    };
  },
};

/** The servers that this computer has. The gate has MongoDB alone here; it kills and suspends PostgreSQL itself. */
export const PROXIED_SERVERS: readonly ServerKind[] = [MONGODB, ...(AT_NIGHT && HAS_POSTGRESQL ? [POSTGRESQL] : [])];
