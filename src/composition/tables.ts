import { FIRST_KEY_ID } from '../application/auth/key-administration.js';
import type { RecordTable } from '../application/list-query.js';
import type { IdempotencyStore } from '../application/ports/idempotency-store.js';
import type { Repository } from '../application/ports/repository.js';
import { API_KEY_FIELDS, type ApiKey } from '../domain/access.js';
import { ORDER_FIELDS, type Order } from '../domain/order.js';
import { PRODUCT_FIELDS, type Product } from '../domain/product.js';
import { SIGNING_KEY_FIELDS, type SigningKey } from '../domain/signing-key.js';
import { USER_FIELDS, type User } from '../domain/user.js';

export const PRODUCTS: RecordTable = { name: 'products', fields: PRODUCT_FIELDS, firstId: 1 };
export const USERS: RecordTable = { name: 'users', fields: USER_FIELDS, firstId: 1 };
export const ORDERS: RecordTable = { name: 'orders', fields: ORDER_FIELDS, firstId: 1 };
export const API_KEYS: RecordTable = { name: 'api_keys', fields: API_KEY_FIELDS, firstId: FIRST_KEY_ID + 1 };

/** Id 1 is never leased: as with the first API key, whoever inserts it has made the first one. */
export const SIGNING_KEYS: RecordTable = { name: 'signing_keys', fields: SIGNING_KEY_FIELDS, firstId: 2 };

export const TABLES: readonly RecordTable[] = [PRODUCTS, USERS, ORDERS, API_KEYS, SIGNING_KEYS];

/** Those of what clients create, under idempotency keys. */
export const RESOURCE_TABLES: readonly RecordTable[] = [PRODUCTS, USERS, ORDERS, API_KEYS];

/**
 * Those whose tombstones go with time. Those of API keys stay for ever: that of the first key keeps it from being made
 * again.
 */
export const EXPIRING_TABLES: readonly RecordTable[] = [PRODUCTS, USERS, ORDERS];

export type IdempotencyStores = Readonly<
  Record<'products' | 'users' | 'orders' | 'apiKeys', IdempotencyStore>
>;

export function idempotencyStores<Kind extends IdempotencyStore>(open: (table: RecordTable) => Kind) {
  return { products: open(PRODUCTS), users: open(USERS), orders: open(ORDERS), apiKeys: open(API_KEYS) };
}

export type Repositories = ReturnType<typeof repositories>;

/** @param open gives the repository of a table, whatever its fields are */
export function repositories(open: <Fields extends object>(table: RecordTable) => Repository<Fields>) {
  return {
    products: open<Product>(PRODUCTS),
    users: open<User>(USERS),
    orders: open<Order>(ORDERS),
    apiKeys: open<ApiKey>(API_KEYS),
    signingKeys: open<SigningKey>(SIGNING_KEYS),
  };
}
