import type { IndexDescription } from 'mongodb';
import type { RecordTable } from '../../../application/list-query.js';
import { RESERVATION_MS, TOMBSTONE_MS } from '../../../application/retention.js';
import { type FieldTraits, METADATA, uniqueFields } from '../../../domain/fields.js';
import { COUNTERS } from './documents.js';
import { fieldPath, uniquePath } from './paths.js';
import { reservationCollection } from './reservation.js';

export interface CollectionIndexes {
  readonly collection: string;
  readonly indexes: readonly IndexDescription[];
}

/** One entry for each collection; `counters` is one of them, though it needs no index beside that of `_id`. */
export function byCollection(all: readonly CollectionIndexes[]): CollectionIndexes[] {
  const collections = new Set([...all.map(({ collection }) => collection), COUNTERS]);
  return [...collections].map((collection) => ({
    collection,
    indexes: all.filter((one) => one.collection === collection).flatMap(({ indexes }) => indexes),
  }));
}

/** Those of the records of a table. */
export function recordIndexes(table: RecordTable): CollectionIndexes {
  return { collection: table.name, indexes: indexesOnFields(table) };
}

/** Lets the server remove the tombstones of a table. Records have no `deletedAt`, and stay however old they are. */
export function tombstoneExpiry({ name }: RecordTable): CollectionIndexes {
  return { collection: name, indexes: [ttlIndex('deletedAt', TOMBSTONE_MS)] };
}

/** Lets the server remove the reservations of a table. */
export function reservationExpiry(table: RecordTable): CollectionIndexes {
  return { collection: reservationCollection(table), indexes: [ttlIndex('reservedAt', RESERVATION_MS)] };
}

/**
 * The indexes of a collection. All but the unique ones begin with `live`, so that what a list may show lies together in
 * them, and end with the id, by which ties break. A unique one has the name of its field.
 */
export function indexesOnFields(table: RecordTable): IndexDescription[] {
  const unique = uniqueFields(table.fields).map((field) => ({
    key: { [uniquePath(table, field)]: 1 as const },
    name: field,
    unique: true,
    sparse: true,
  }));
  const fields = Object.entries({ ...METADATA, ...table.fields });
  return [...fields.flatMap(([field, traits]) => indexesToWalk(field, traits)), ...unique];
}

/**
 * By it the server removes what is older, by its own clock, some time in the minute after. Sparse: what lacks the member
 * is not in it, and is never removed.
 */
function ttlIndex(path: string, keptMs: number): IndexDescription {
  return { key: { [path]: 1 }, name: `ttl_${path}`, expireAfterSeconds: keptMs / 1_000, sparse: true };
}

function indexesToWalk(
  field: string,
  { type, required, unique, reference }: FieldTraits,
): IndexDescription[] {
  if (field === 'id') return [{ key: { live: 1, _id: 1 }, name: 'live' }];
  if (type === 'attributes') return [];
  const path = fieldPath(field);
  const ascending = { key: { live: 1, [path]: 1, _id: 1 }, name: `live_${field}` } as const;
  const descending = { key: { live: 1, [path]: -1, _id: 1 }, name: `live_-${field}` } as const;
  // Lists are sorted by fields that every record has: ids ascend where two are alike, whichever way the field goes.
  if (required) return [ascending, descending, ...(reference ? [newestFirst(field)] : [])];
  return unique ? [] : [ascending];
}

/** For what names one record, in order of `-createdAt`. */
function newestFirst(field: string): IndexDescription {
  const key = { live: 1, [fieldPath(field)]: 1, createdAt: -1, _id: 1 } as const;
  return { key, name: `live_${field}_-createdAt` };
}
