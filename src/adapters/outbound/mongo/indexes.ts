import type { IndexDescription } from 'mongodb';
import { HOUR_MS, RESERVATION_MS, USAGE_MS } from '../../../application/maintenance/retention.js';
import type { RecordTable, SortOrder } from '../../../application/ports/list-query.js';
import type { StoredTable } from '../../../application/ports/table-store.js';
import { listIndexes } from '../../../application/records/list-indexes.js';
import { uniqueFields } from '../../../domain/fields.js';
import {
  COUNTERS,
  changesCollection,
  fieldPath,
  PENDING,
  PENDING_INDEX,
  reservationCollection,
  specOf,
  USAGE,
  uniquePath,
} from './documents.js';
import { WORDS_INDEX, WORDS_KEY } from './words.js';

/**
 * How long a tombstone is kept, as in the first release: an index with another time would be in its way. The feed needs
 * no longer time, because a reader who meets an entry without its tombstone learns that its position has expired.
 */
const TOMBSTONE_MS = 50 * HOUR_MS;

export interface CollectionIndexes {
  readonly collection: string;
  readonly indexes: readonly IndexDescription[];
}

/** The indexes of all collections. */
export function wantedIndexes(tables: readonly StoredTable[]): CollectionIndexes[] {
  return [
    ...tables.map(recordIndexes),
    ...tables.filter(({ tombstones }) => tombstones === 'expire').map(tombstoneExpiry),
    ...tables.filter(({ hasFeed }) => hasFeed).flatMap(changeIndexes),
    ...tables.filter(({ creation }) => creation === 'keyed').map(reservationExpiry),
    usageIndexes(),
  ];
}

/** One entry for each collection. `counters` and logs need no other index than that of `_id`. */
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

/** The index on the documents whose changes are not in the log yet, the oldest change first; and the log. */
export function changeIndexes(table: RecordTable): CollectionIndexes[] {
  const pending = { key: { updatedAt: 1 }, name: PENDING_INDEX, partialFilterExpression: PENDING } as const;
  return [
    { collection: table.name, indexes: [pending] },
    { collection: changesCollection(table), indexes: [] },
  ];
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

/** The keys of the indexes of lists: those that every store has, and those on attributes. */
export function listKeys(table: RecordTable): SortOrder[] {
  const attributes = Object.keys(table.fields).filter((field) => table.fields[field]?.type === 'attributes');
  const byId = { field: 'id', descending: false };
  return [...listIndexes(table), ...attributes.map((field) => [{ field, descending: false }, byId])];
}

/** The paths of a field in an index. The bounds of one attribute are those of its key and its value together. */
function indexPaths(table: RecordTable, field: string): string[] {
  const path = fieldPath(field);
  return specOf(table, field).type === 'attributes' ? [`${path}.key`, `${path}.value`] : [path];
}

/**
 * The unique indexes and those of lists. These begin with `live`, so that the records lie together. A unique index has
 * the name of its field, and no tombstone or record without a value.
 */
export function indexesOnFields(table: RecordTable): IndexDescription[] {
  const lists = listKeys(table).map((keys) => ({
    key: {
      live: 1 as const,
      ...Object.fromEntries(
        keys.flatMap(({ field, descending }) =>
          indexPaths(table, field).map((path) => [path, descending ? (-1 as const) : (1 as const)]),
        ),
      ),
    },
    name: [
      'live',
      ...keys.slice(0, -1).map(({ field, descending }) => `${descending ? '-' : ''}${field}`),
    ].join('_'),
  }));
  const unique = uniqueFields(table.fields).map((field) => ({
    key: { [uniquePath(table, field)]: 1 as const },
    name: field,
    unique: true,
    sparse: true,
  }));
  return [...lists, ...unique];
}
