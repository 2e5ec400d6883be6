import type { RecordTable } from '#src/application/list-query.js';
import { QueryBudget } from '#src/application/query-budget.js';
import { API_KEY_FIELDS } from '#src/domain/access.js';
import { ORDER_FIELDS } from '#src/domain/order.js';
import { PRODUCT_FIELDS } from '#src/domain/product.js';
import { USER_FIELDS } from '#src/domain/user.js';
import { FakeClock } from './fakes.js';

export const PRODUCTS: RecordTable = { name: 'products', fields: PRODUCT_FIELDS, firstId: 1 };
export const USERS: RecordTable = { name: 'users', fields: USER_FIELDS, firstId: 1 };
export const ORDERS: RecordTable = { name: 'orders', fields: ORDER_FIELDS, firstId: 1 };
export const API_KEYS: RecordTable = { name: 'api_keys', fields: API_KEY_FIELDS, firstId: 2 };

/** Time stands still: no query is ever too expensive. */
export const ENDLESS = new QueryBudget(new FakeClock(), 2_000);
