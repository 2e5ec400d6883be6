import { QueryBudget } from '#src/application/query-budget.js';
import { RECORD_TABLES } from '#src/composition/tables.js';
import { FakeClock } from './fakes.js';

export const {
  products: PRODUCTS,
  users: USERS,
  orders: ORDERS,
  apiKeys: API_KEYS,
  signingKeys: SIGNING_KEYS,
} = RECORD_TABLES;

/** Time stands still: no query is ever too expensive. */
export const ENDLESS = new QueryBudget(new FakeClock(), 2_000);
