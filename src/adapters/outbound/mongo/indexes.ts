import type { IndexDescription } from 'mongodb';
import { RESERVATION_MS, TOMBSTONE_MS, USAGE_MS } from '../../../application/maintenance/retention.js';
import type { Filter, ListQuery, RecordTable } from '../../../application/ports/list-query.js';
import type { StoredTable } from '../../../application/ports/table-store.js';
import { isFolded } from '../../../application/records/query-semantics.js';
import { type FieldSpec, SYSTEM_FIELDS, uniqueFields } from '../../../domain/fields.js';
import { COUNTERS, fieldPath, reservationCollection, specOf, USAGE, uniquePath } from './documents.js';
import { WORDS_INDEX, WORDS_KEY } from './words.js';

export interface CollectionIndexes {
  readonly collection: string;
  readonly indexes: readonly IndexDescription[];
}

/** The indexes of all collections. */
export function wantedIndexes(tables: readonly StoredTable[]): CollectionIndexes[] {
  return [
    ...tables.map(recordIndexes),
    ...tables.filter(({ tombstones }) => tombstones === 'expire').map(tombstoneExpiry),
    ...tables.filter(({ creation }) => creation === 'keyed').map(reservationExpiry),
    usageIndexes(),
  ];
}

/** One entry for each collection. `counters` is one of them, though it needs no other index than that of `_id`. */
export function byCollection(all: readonly CollectionIndexes[]): CollectionIndexes[] {
  const collections = new Set([...all.map(({ collection }) => collection), COUNTERS]);
  return [...collections].map((collection) => ({
    collection,
    indexes: all.filter((one) => one.collection === collection).flatMap(({ indexes }) => indexes),
  }));
}

/** The indexes on the records of a table. */
export function recordIndexes(table: RecordTable): CollectionIndexes {
  const words = table.searched.length > 0 ? [{ key: WORDS_KEY, name: WORDS_INDEX }] : [];
  return { collection: table.name, indexes: [...indexesOnFields(table), ...words] };
}

/** Makes the server delete the tombstones of a table. Records have no `deletedAt`, so it never deletes a record. */
export function tombstoneExpiry({ name }: RecordTable): CollectionIndexes {
  return { collection: name, indexes: [ttlIndex('deletedAt', TOMBSTONE_MS)] };
}

/** Makes the server delete the reservations of a table. */
export function reservationExpiry(table: RecordTable): CollectionIndexes {
  return { collection: reservationCollection(table), indexes: [ttlIndex('reservedAt', RESERVATION_MS)] };
}

/** The indexes on the usage of API keys: the hours of a key, and the expiry. */
export function usageIndexes(): CollectionIndexes {
  const byKey = { key: { keyId: 1, hour: 1 }, name: 'keyId_hour' } as const;
  return { collection: USAGE, indexes: [byKey, ttlIndex('hour', USAGE_MS)] };
}

/**
 * The server deletes older documents by its own clock, some time in the next minute. Sparse: a document without the
 * member is not in the index and is never deleted.
 */
function ttlIndex(path: string, retentionMs: number): IndexDescription {
  return { key: { [path]: 1 }, name: `ttl_${path}`, expireAfterSeconds: retentionMs / 1_000, sparse: true };
}

/**
 * All but the unique indexes begin with `live`, so that the records of lists lie together, and end with the id, which
 * breaks ties. A unique index has the name of its field.
 */
export function indexesOnFields(table: RecordTable): IndexDescription[] {
  const unique = uniqueFields(table.fields).map((field) => ({
    key: { [uniquePath(table, field)]: 1 as const },
    name: field,
    unique: true,
    sparse: true,
  }));
  const fields = Object.entries({ ...SYSTEM_FIELDS, ...table.fields });
  return [...fields.flatMap(([field, spec]) => listIndexes(field, spec)), ...unique];
}

function listIndexes(field: string, { type, required, unique, reference }: FieldSpec): IndexDescription[] {
  if (field === 'id') return [{ key: { live: 1, _id: 1 }, name: 'live' }];
  if (type === 'attributes' || type === 'presence') return [];
  const path = fieldPath(field);
  const ascending = { key: { live: 1, [path]: 1, _id: 1 }, name: `live_${field}` } as const;
  const descending = { key: { live: 1, [path]: -1, _id: 1 }, name: `live_-${field}` } as const;
  // Only required fields can be sorted by. Ids ascend among ties, in both directions of the field.
  const sorted = required ? [ascending, descending] : [ascending];
  if (unique) return required ? sorted : [];
  return reference ? [...sorted, newestFirst(field)] : sorted;
}

/** For the records that refer to another record, in order of `-createdAt`. */
function newestFirst(field: string): IndexDescription {
  const key = { live: 1, [fieldPath(field)]: 1, createdAt: -1, _id: 1 } as const;
  return { key, name: `live_${field}_-createdAt` };
}

/**
 * Whether an index leads to exactly the records of a list in their order, or to so few that sorting them is cheap.
 * The time of such a query does not grow with the collection or with the depth of the page. Exception: if records tie
 * in the first key of the order, the server may read all of these.
 */
export function isIndexed(
  table: RecordTable,
  { filters, order }: Pick<ListQuery, 'filters' | 'order'>,
): boolean {
  if (filters.some((filter) => matchesUniqueValues(table, filter))) return true;
  const [first] = order;
  if (!first || order.length > 2) return false;
  const others = filters.filter((filter) => filter.field !== first.field || isFolded(table, filter));
  const isFixed = others.every(
    (filter) => filter.field === others[0]?.field && isOneValue(table, filter) && !isFolded(table, filter),
  );
  const [one, more] = others;
  // The key of one element of a list leads to records that lack the others.
  if (one && more && isFixed && specOf(table, one.field).isList) return false;
  if (others.length === 0 || (first.field === 'id' && isFixed)) return true;
  return isFixed && isReference(table, others) && isByCreation(order);
}

/**
 * Whether all records that match have one key in the list index of the field. Records without a value have the key
 * null. A unique index is sparse and has no key for them.
 */
function isOneValue(table: RecordTable, filter: Filter): boolean {
  if (filter.operator === 'eq') return table.fields[filter.field]?.type !== 'presence';
  if (filter.operator !== 'exists' || filter.value) return false;
  const { type, unique } = specOf(table, filter.field);
  return !unique && type !== 'presence';
}

function isReference(table: RecordTable, [filter]: readonly Filter[]): boolean {
  return filter !== undefined && specOf(table, filter.field).reference === true;
}

/** Newest first with ascending ids among ties; or exactly the reverse. */
function isByCreation([first, second]: ListQuery['order']): boolean {
  return first?.field === 'createdAt' && second?.field === 'id' && first.descending !== second.descending;
}

function matchesUniqueValues(table: RecordTable, { field, operator }: Filter): boolean {
  return (operator === 'eq' || operator === 'in') && specOf(table, field).unique === true;
}
