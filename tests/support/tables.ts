import { QueryBudget } from '#src/application/maintenance/query-budget.js';
import { API_KEYS, RESOURCE_TABLES } from '#src/composition/tables.js';
import type { Scope } from '#src/domain/access.js';
import { FakeClock } from './fakes.js';

export {
  API_KEYS,
  EXPIRING_TABLES,
  ORDERS,
  PRODUCTS,
  RESOURCE_TABLES,
  SIGNING_KEYS,
  TABLES,
  USERS,
} from '#src/composition/tables.js';

/** The plurals in the addresses of all resources. */
export const PLURALS = RESOURCE_TABLES.map(({ name }) => name.replaceAll('_', '-'));

/** The plurals of those resources that have two scopes of their own; API keys have `keys:admin` instead. */
export const RECORD_PLURALS = RESOURCE_TABLES.filter((table) => table !== API_KEYS).map(
  ({ name }) => name as Extract<Scope, `${string}:read`> extends `${infer Plural}:read` ? Plural : never,
);

/** Time stands still: no query is ever too expensive. */
export const ENDLESS = new QueryBudget(new FakeClock(), 2_000);
