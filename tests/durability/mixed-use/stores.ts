import { join } from 'node:path';
import { mongoStorage } from '#src/adapters/outbound/mongo/storage.js';
import { postgresqlStorage } from '#src/adapters/outbound/postgresql/storage.js';
import { sqliteStorage } from '#src/adapters/outbound/sqlite/storage.js';
import { type Storage, storageOf } from '#src/composition/storage.js';
import { MongoProcess } from '../../support/mongo-process.js';
import { patience } from '../../support/mongo-url.js';
import { PostgresqlServer, patient } from '../../support/postgresql-server.js';
import { ENDLESS, TABLES } from '../../support/tables.js';

/** A store that survives the processes of the service. */
export interface TestedStore {
  /** The working folder of the services. */
  readonly folder: string;
  readonly settings: Record<string, string>;
  /** The same with longer waits, for reads that must succeed on a busy computer. */
  readonly patientSettings: Record<string, string>;
  /** As `catalogue copy` takes it. */
  readonly url: string;
  /** The store itself, to be opened while no service runs. */
  storage(): Storage;
  /** A copy in a SQLite file. */
  copied(file: string): Storage;
  /** Kills the server of the store and starts it again. Absent if there is none. */
  readonly restartServer?: () => Promise<void>;
  close(): Promise<void>;
}

const copied = (file: string) => storageOf(sqliteStorage({ file, tables: TABLES, budget: ENDLESS }));

export function sqliteStore(folder: string): TestedStore {
  const file = join(folder, 'data/catalogue.sqlite');
  const settings = { STORE: 'sqlite', SQLITE_FILE: file };
  return {
    folder,
    settings,
    patientSettings: settings,
    url: `sqlite:${file}`,
    storage: () => copied(file),
    copied,
    close: async () => {},
  };
}

export async function mongoStore(folder: string): Promise<TestedStore> {
  const server = await MongoProcess.onFreePort(folder);
  await server.run();
  const url = server.url('catalogue');
  const patient = `${url}&${patience()}`;
  return {
    folder,
    settings: { STORE: 'mongodb', MONGODB_URL: url },
    patientSettings: { STORE: 'mongodb', MONGODB_URL: patient },
    url,
    storage: () => storageOf(mongoStorage({ url: patient, tables: TABLES, budget: ENDLESS })),
    copied,
    restartServer: async () => {
      await server.kill();
      await server.run();
    },
    close: () => server.kill(),
  };
}

export async function postgresqlStore(folder: string): Promise<TestedStore> {
  const server = await PostgresqlServer.start();
  const url = server.url();
  return {
    folder,
    settings: { STORE: 'postgresql', POSTGRESQL_URL: url },
    patientSettings: { STORE: 'postgresql', POSTGRESQL_URL: patient(url) },
    url,
    storage: () => storageOf(postgresqlStorage({ url: patient(url), tables: TABLES, budget: ENDLESS })),
    copied,
    restartServer: async () => {
      await server.kill();
      await server.run();
    },
    close: () => server.kill(),
  };
}
