import { QueryBudget } from '#src/application/records/lists.js';
import { RECORD_TABLES, RESOURCE_TABLES } from '#src/composition/tables.js';
import type { Scope } from '#src/domain/access.js';
import { FakeClock } from './fakes.js';

export { EXPIRING_TABLES, RESOURCE_TABLES, TABLES } from '#src/composition/tables.js';

export const PRODUCTS = RECORD_TABLES.products;
export const USERS = RECORD_TABLES.users;
export const ORDERS = RECORD_TABLES.orders;
export const API_KEYS = RECORD_TABLES.apiKeys;
export const SIGNING_KEYS = RECORD_TABLES.signingKeys;
export const WEBHOOKS = RECORD_TABLES.webhooks;

/** The plurals in the paths of all resources. */
export const PLURALS = RESOURCE_TABLES.map(({ name }) => name.replaceAll('_', '-'));

/** The plurals of the resources with a read and a write scope; API keys and webhooks have one of their own instead. */
export const RECORD_PLURALS = RESOURCE_TABLES.filter((table) => table !== API_KEYS && table !== WEBHOOKS).map(
  ({ name }) => name as Extract<Scope, `${string}:read`> extends `${infer Plural}:read` ? Plural : never,
);

/** A query budget that never runs out, because its clock does not move. */
export const ENDLESS = new QueryBudget(new FakeClock(), 2_000);
