import { FIRST_KEY_ID } from '../application/auth/api-keys.js';
import type { ChangeFeed } from '../application/ports/change-feed.js';
import type { IdempotencyStore } from '../application/ports/idempotency-store.js';
import type { Repository } from '../application/ports/repository.js';
import type { StoredTable } from '../application/ports/table-store.js';
import { SIGNING_KEY_FIELDS, type SigningKey } from '../domain/access-token.js';
import { API_KEY, type ApiKey } from '../domain/api-key.js';
import { type FieldTable, indexedFields, searchedFields } from '../domain/fields.js';
import { ORDER, type Order } from '../domain/order.js';
import { PRODUCT, type Product } from '../domain/product.js';
import type { ResourceName } from '../domain/record.js';
import { USER, type User } from '../domain/user.js';
import { STORED_WEBHOOK, unusableFields, type Webhook, type WebhookState } from '../domain/webhook.js';

/** A table or collection that every store keeps. */
export interface Table<Fields, Creation extends StoredTable['creation']> extends StoredTable {
  readonly creation: Creation;
  /** Carries the type of the fields and has no value. */
  readonly fieldsType?: Fields;
}

/** A table whose records clients create. */
export interface KeyedTable<Fields> extends Table<Fields, 'keyed'> {
  /** Every field, those without an index too. */
  readonly entity: FieldTable;
}

/** The tables by their names in the code. Everything below follows from this list. */
export const RECORD_TABLES = {
  products: keyed<Product>({
    name: 'products',
    entity: PRODUCT,
    firstId: 1,
    tombstones: 'expire',
    hasFeed: true,
  }),
  users: keyed<User>({
    name: 'users',
    entity: USER,
    firstId: 1,
    tombstones: 'expire',
    hasFeed: true,
  }),
  orders: keyed<Order>({
    name: 'orders',
    entity: ORDER,
    firstId: 1,
    tombstones: 'expire',
    hasFeed: true,
  }),
  apiKeys: keyed<ApiKey>({
    name: 'api_keys',
    entity: API_KEY,
    firstId: FIRST_KEY_ID + 1,
    // The tombstone of the first key prevents that another start creates it again.
    tombstones: 'stay',
    hasFeed: false,
  }),
  signingKeys: unkeyed<SigningKey>({
    name: 'signing_keys',
    fields: SIGNING_KEY_FIELDS,
    // Id 1 is never reserved: as with the first API key, its insertion decides which process makes the first one.
    firstId: 2,
    tombstones: 'stay',
    hasFeed: false,
  }),
  webhooks: keyed<Webhook>({
    name: 'webhooks',
    entity: STORED_WEBHOOK,
    firstId: 1,
    tombstones: 'stay',
    hasFeed: false,
    unusableFields,
  }),
  // Under the ids of the webhooks.
  webhookStates: unkeyed<WebhookState>({
    name: 'webhook_states',
    fields: {},
    firstId: 1,
    tombstones: 'stay',
    hasFeed: false,
  }),
};

type Tables = typeof RECORD_TABLES;
type TableName = keyof Tables;
type KeyedName = { [Name in TableName]: Tables[Name]['creation'] extends 'keyed' ? Name : never }[TableName];

export const TABLES: readonly StoredTable[] = Object.values(RECORD_TABLES);

/** The tables whose records are created under idempotency keys. */
export const RESOURCE_TABLES: readonly StoredTable[] = Object.values(RECORD_TABLES).filter(
  ({ creation }) => creation === 'keyed',
);

/** The tables whose tombstones are purged. */
export const EXPIRING_TABLES: readonly StoredTable[] = Object.values(RECORD_TABLES).filter(
  ({ tombstones }) => tombstones === 'expire',
);

/** The feeds of the tables that have one. */
export type ChangeFeeds = {
  readonly [Name in ResourceName]: Tables[Name] extends Table<infer Fields, 'keyed'> ? ChangeFeed<Fields> : never;
};

/** @param of returns the feed of a table with any fields */
export function changeFeeds(of: (table: StoredTable) => ChangeFeed<object>): ChangeFeeds {
  const feeding = Object.entries(RECORD_TABLES).filter(([, { hasFeed }]) => hasFeed);
  return Object.fromEntries(feeding.map(([name, table]) => [name, of(table)])) as unknown as ChangeFeeds;
}

export type IdempotencyStores = { readonly [Name in KeyedName]: IdempotencyStore };

export function idempotencyStores(of: (table: StoredTable) => IdempotencyStore): IdempotencyStores {
  const keyed = Object.entries(RECORD_TABLES).filter(([, { creation }]) => creation === 'keyed');
  return Object.fromEntries(keyed.map(([name, table]) => [name, of(table)])) as IdempotencyStores;
}

export type Repositories = {
  readonly [Name in TableName]: Tables[Name] extends Table<infer Fields, 'keyed' | 'unkeyed'>
    ? Repository<Fields>
    : never;
};

/** @param of returns the repository of a table with any fields */
export function repositories(of: <Fields extends object>(table: StoredTable) => Repository<Fields>) {
  const all = Object.entries(RECORD_TABLES).map(([name, table]) => [name, of(table)]);
  return Object.fromEntries(all) as Repositories;
}

type Description = Omit<Table<unknown, 'keyed'>, 'creation' | 'fieldsType' | 'searched'>;

function keyed<Fields>(
  description: Omit<Description, 'fields'> & Pick<KeyedTable<Fields>, 'entity'>,
): KeyedTable<Fields> {
  const { entity } = description;
  return {
    ...description,
    fields: indexedFields(entity),
    searched: searchedFields(entity),
    creation: 'keyed',
  };
}

function unkeyed<Fields>(description: Description): Table<Fields, 'unkeyed'> {
  return { ...description, searched: [], creation: 'unkeyed' };
}
