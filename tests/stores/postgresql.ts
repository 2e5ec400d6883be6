import { HAS_POSTGRESQL, PostgresqlServer, patient, sharedPostgresql } from '../support/postgresql-server.js';
import type { CreatedStore, TestStoreProvider } from './provider.js';

export const POSTGRESQL: TestStoreProvider = {
  name: 'postgresql',
  beyond: (position) => position.replace(/\d+-\d+$/, `${2n ** 63n}-1`),
  isMissing: !HAS_POSTGRESQL,
  isLocal: true,
  pace: 'fast',
  removesExpired: false,
  create: async () => createdIn(await sharedPostgresql(), patient),
  ...(HAS_POSTGRESQL && {
    createDurable: async () => {
      durable ??= PostgresqlServer.start({ isDurable: true });
      return createdIn(await durable);
    },
  }),
  unreachable: (password) => ({ POSTGRESQL_URL: `postgresql://ann:${password}@127.0.0.1:1/catalogue` }),
  startServer: async () => {
    const server = await PostgresqlServer.start();
    return {
      settings: { STORE: 'postgresql', POSTGRESQL_URL: server.url() },
      port: server.port,
      through: (port) => ({
        STORE: 'postgresql',
        POSTGRESQL_URL: server.url().replace(`:${server.port}/`, `:${port}/`),
      }),
      suspend: async () => server.suspend(),
      resume: async () => server.resume(),
      kill: () => server.kill(),
      restart: () => server.run(),
      remove: async () => {
        server.resume();
        await server.kill();
      },
    };
  },
};

let durable: Promise<PostgresqlServer> | undefined;

async function createdIn(server: PostgresqlServer, toUrl = (url: string) => url): Promise<CreatedStore> {
  const url = await server.createSchema();
  return {
    settings: { STORE: 'postgresql', POSTGRESQL_URL: toUrl(url) },
    empty: () => server.emptySchema(url),
    remove: () => server.dropSchema(url),
  };
}
