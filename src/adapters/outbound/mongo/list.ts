import { BSON, type Collection, type Document, type FindCursor } from 'mongodb';
import {
  type Comparison,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type Position,
  type RecordTable,
  type SortOrder,
} from '../../../application/records/list-query.js';
import type { Versioned } from '../../../domain/record.js';
import {
  fieldPath,
  type LiveDocument,
  type MongoTable,
  recordOf,
  type StoredDocument,
  specOf,
} from './documents.js';
import { isCursorLost } from './errors.js';
import { comparison, conditionsOf } from './filter.js';

/** The documents of a batch. The server ends a batch earlier if it reaches 16 MiB. */
const BATCH = 250;

/**
 * The options that read a snapshot. A write that changes an indexed value moves the document within the index, so a
 * scan without a snapshot could miss a document that was in the list all the time.
 */
export const SNAPSHOT_READ = { readConcern: { level: 'snapshot' } } as const;

/** Reads a page, and once more if the server loses its cursor: nothing of the first attempt was returned. */
export async function readPage<Fields>(
  ...page: PageParameters<Fields>
): Promise<ListPage<Versioned<Fields>>> {
  try {
    return await readOnce(...page);
  } catch (error) {
    if (!isCursorLost(error)) throw error;
    return readOnce(...page);
  }
}

type PageParameters<Fields> = [
  collection: Collection<StoredDocument>,
  table: MongoTable<Fields>,
  query: ListQuery,
  maxTimeMS: number,
];

/** Reads one record more than the page holds, to find out whether there are more. */
async function readOnce<Fields>(
  ...[collection, table, query, maxTimeMS]: PageParameters<Fields>
): Promise<ListPage<Versioned<Fields>>> {
  const { filters, order, from, limit, bytes = MAX_PAGE_BYTES } = query;
  const side = from?.side ?? 'after';
  const keyset = from ? keysetConditions(table, order, from) : [];
  const cursor = collection
    .find<LiveDocument>({ $and: [...conditionsOf(table, filters), ...keyset] }, SNAPSHOT_READ)
    .sort(sortOf(order, side))
    .limit(limit + 1)
    .batchSize(BATCH)
    .allowDiskUse()
    .maxTimeMS(maxTimeMS);
  const toRecord = (document: LiveDocument) => recordOf(table, document);
  const { items: records, hasMore } = await readUpTo(
    limit,
    bytes,
    cursor,
    toRecord,
    ({ fieldsBytes }) => fieldsBytes,
  );
  return { records: side === 'before' ? records.reverse() : records, hasMore };
}

/** Reads the first documents in order of `_id`: at most `limit`, fewer if they reach {@link MAX_PAGE_BYTES}. */
export async function readById<Kind extends object>(
  found: FindCursor<Kind>,
  limit: number,
  maxTimeMS: number,
): Promise<Kind[]> {
  const cursor = found.sort({ _id: 1 }).limit(limit).batchSize(BATCH).maxTimeMS(maxTimeMS);
  const same = (document: Kind) => document;
  return (await readUpTo(limit, MAX_PAGE_BYTES, cursor, same, BSON.calculateObjectSize)).items;
}

/** Reads at most `limit` items. The item that reaches `maxBytes` is the last. */
async function readUpTo<Kind, Item>(
  limit: number,
  maxBytes: number,
  cursor: FindCursor<Kind>,
  toItem: (document: Kind) => Item,
  sizeOf: (item: Item) => number,
): Promise<{ items: Item[]; hasMore: boolean }> {
  const items: Item[] = [];
  let bytes = 0;
  try {
    while (await cursor.hasNext()) {
      // The documents that have arrived need no promise each.
      for (let [next] = cursor.readBufferedDocuments(1); next; [next] = cursor.readBufferedDocuments(1)) {
        if (items.length === limit || bytes >= maxBytes) return { items, hasMore: true };
        const item = toItem(next);
        items.push(item);
        bytes += sizeOf(item);
      }
    }
    return { items, hasMore: false };
  } finally {
    await cursor.close();
  }
}

/** The order in which a page is read: the order of the list, reversed if the page lies before its position. */
export function sortOf(order: SortOrder, side: Position['side']): Record<string, 1 | -1> {
  return Object.fromEntries(
    order.map(({ field, descending }) => [fieldPath(field), isAscending(descending, side) ? 1 : -1]),
  );
}

/**
 * Keyset condition: `(a > x) or (a = x and b > y)`, plus the redundant `a >= x` so that MongoDB can seek in the index.
 * Among documents that tie in the first key, only the `$or` bounds the scan: each branch is a range of the index, but
 * the server may choose to scan all of them.
 */
export function keysetConditions(
  table: RecordTable,
  order: SortOrder,
  { side, inclusive, values }: Position,
): Document[] {
  const keys = order.map(({ field, descending }, at) => {
    const { type } = specOf(table, field);
    const value = values[at];
    if (value === undefined) throw new Error(`The position has no value of ${field}.`);
    const is = (operator: Comparison['operator']) => ({
      [fieldPath(field)]: comparison(type, operator, value),
    });
    const [further, notBefore] = isAscending(descending, side)
      ? [is('gt'), is('gte')]
      : [is('lt'), is('lte')];
    return { tied: is('eq'), further, notBefore };
  });
  const branches = keys.map(({ further, notBefore }, at) => {
    const last = inclusive && at === keys.length - 1 ? notBefore : further;
    return { $and: [...keys.slice(0, at).map(({ tied }) => tied), last] };
  });
  return [...keys.slice(0, 1).map(({ notBefore }) => notBefore), { $or: branches }];
}

function isAscending(descending: boolean, side: Position['side']): boolean {
  return descending === (side === 'before');
}
