import { postgresqlStorage } from '#src/adapters/outbound/postgresql/storage.js';
import type { QueryBudget } from '#src/application/maintenance/query-budget.js';
import { storageOf } from '#src/composition/storage.js';
import type { OpenRepository, SharedRepository } from '../contract/repository/test-store.js';
import { patient, sharedPostgresql } from './postgresql-server.js';
import { ENDLESS } from './tables.js';

/** Opens the repositories of a new schema, which `close` drops. */
export async function openPostgresql(budget = ENDLESS): Promise<SharedRepository & { readonly url: string }> {
  const server = await sharedPostgresql();
  const url = await server.createSchema();
  const opened = await openSchema(url, budget);
  return {
    ...opened,
    url,
    again: () => openSchema(url, budget),
    close: async () => {
      await opened.close();
      await server.dropSchema(url);
    },
  };
}

async function openSchema(url: string, budget: QueryBudget): Promise<OpenRepository> {
  const { store, ...storage } = storageOf(postgresqlStorage({ url: patient(url), budget }));
  await store.open();
  return { ...storage, close: () => store.close() };
}
