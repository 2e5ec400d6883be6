import { QueryBudget } from '#src/application/maintenance/query-budget.js';
import { FakeClock } from './fakes.js';

export { API_KEYS, ORDERS, PRODUCTS, SIGNING_KEYS, USERS } from '#src/composition/tables.js';

/** Time stands still: no query is ever too expensive. */
export const ENDLESS = new QueryBudget(new FakeClock(), 2_000);
