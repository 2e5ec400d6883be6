import type { AbstractCursor, Collection, Document } from 'mongodb';
import {
  type Comparison,
  type Filter,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type Position,
  type RecordTable,
  type SortOrder,
} from '../../../application/ports/list-query.js';
import { decidingKeys } from '../../../application/records/list-indexes.js';
import { specOf } from '../../../application/records/query-semantics.js';
import type { StoredRecord } from '../../../application/records/record-json.js';
import { hasOnlyIdFilters, type IdRange } from '../../../application/search/id-range.js';
import { fieldPath, type LiveDocument, type MongoTable, recordOf, type StoredDocument } from './documents.js';
import { isCursorLost } from './errors.js';
import { anyValue, comparison, conditionsOf } from './filter.js';
import { rangeConditions, WITHOUT_WORDS, WORDS_INDEX } from './words.js';

/** The documents of a batch. The server ends a batch earlier if it reaches 16 MiB. */
export const BATCH = 250;

/**
 * The options that read a snapshot. A write that changes an indexed value moves the document within the index, so a
 * scan without a snapshot could miss a document that was in the list all the time.
 */
export const SNAPSHOT_READ = { readConcern: { level: 'snapshot' } } as const;

/** Reads a page, and once more if the server loses its cursor: nothing of the first attempt was returned. */
export async function readPage<Fields>(
  ...page: PageParameters<Fields>
): Promise<ListPage<StoredRecord<Fields>>> {
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
  /** Of a search that is read block by block. It takes the place of the position. */
  range?: IdRange,
];

/** Reads one record more than the page holds, to find out whether there are more. */
async function readOnce<Fields>(
  ...[collection, table, query, maxTimeMS, range]: PageParameters<Fields>
): Promise<ListPage<StoredRecord<Fields>>> {
  const { filters, from, limit, bytes = MAX_PAGE_BYTES } = query;
  const order = decidingKeys(table, query.order);
  const side = from?.side ?? 'after';
  const keyset = from && !range ? keysetConditions(table, order, from) : [];
  const bounds = range ? rangeConditions(range) : [];
  const condition = { $and: [...conditionsOf(table, filters), ...keyset, ...bounds] };
  const hint = hintFor(filters, range);
  const options = { ...SNAPSHOT_READ, ...hint, batchSize: BATCH, allowDiskUse: true, maxTimeMS };
  const lacks = lackKeys(table, order);
  const sort = sortOf(order, side, lacks);
  const cursor =
    lacks.size === 0
      ? collection.find<LiveDocument>(condition, {
          ...options,
          projection: WITHOUT_WORDS,
          sort,
          limit: limit + 1,
        })
      : collection.aggregate<LiveDocument>(
          [
            { $match: condition },
            { $project: WITHOUT_WORDS },
            { $addFields: Object.fromEntries([...lacks].map(([field, name]) => [name, isLacking(field)])) },
            { $sort: sort },
            { $limit: limit + 1 },
          ],
          options,
        );
  const toRecord = (document: LiveDocument) => recordOf(table, document).asText();
  const { items: records, hasMore } = await readUpTo(
    limit,
    bytes,
    cursor,
    toRecord,
    ({ fieldsBytes }) => fieldsBytes,
  );
  return { records: side === 'before' ? records.reverse() : records, hasMore };
}

/**
 * Returns the option that makes the server read the index of words. Without it the server could choose the index on
 * the id once for a common word, and keep that plan for a rare one. If other filters decide too, it chooses itself.
 */
export function hintFor(filters: readonly Filter[], range: IdRange | undefined): { hint?: string } {
  return range && hasOnlyIdFilters(filters) ? { hint: WORDS_INDEX } : {};
}

/** Reads at most `limit` items. The item that reaches `maxBytes` is the last. */
export async function readUpTo<Kind, Item extends object>(
  limit: number,
  maxBytes: number,
  cursor: AbstractCursor<Kind>,
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

/**
 * The order in which a page is read: the order of the list, reversed if the page lies before its position.
 * @param lacks see {@link lackKeys}
 */
export function sortOf(
  order: SortOrder,
  side: Position['side'],
  lacks: ReadonlyMap<string, string> = new Map(),
): Record<string, 1 | -1> {
  const direction = (descending: boolean) => (isAscending(descending, side) ? 1 : -1);
  return Object.fromEntries(
    order.flatMap(({ field, descending }) => {
      const lack = lacks.get(field);
      return [
        ...(lack === undefined ? [] : [[lack, direction(false)]]),
        [fieldPath(field), direction(descending)],
      ];
    }),
  );
}

/**
 * The fields of further keys that records may lack, each with the name of a key before it that says whether the record
 * lacks it. The server sorts a missing value before all others. So only an ascending field needs such a key, which no
 * index has.
 */
function lackKeys(table: RecordTable, order: SortOrder): ReadonlyMap<string, string> {
  return new Map(
    order.flatMap(({ field, descending }, at) =>
      at === 0 || descending || specOf(table, field).required ? [] : [[field, `lacks${at}`]],
    ),
  );
}

/** Whether a document lacks a field. In an aggregation a missing value is less than null. */
function isLacking(field: string): Document {
  return { $lte: [`$${fieldPath(field)}`, null] };
}

/**
 * Keyset condition: `(a > x) or (a = x and b > y)`, plus the redundant `a >= x` so that MongoDB can seek in the index.
 * Among documents that tie in the first key, only the `$or` bounds the scan: each branch is a range of the index, but
 * the server may choose to scan all of them. A document that lacks a further key lies behind those that have it.
 * @param order as {@link decidingKeys} returns it
 */
export function keysetConditions(
  table: RecordTable,
  order: SortOrder,
  { side, inclusive, values }: Position,
): Document[] {
  if (values.length === 0) return [];
  const keys = order.map(({ field, descending }, at) => {
    const { type, required } = specOf(table, field);
    const path = fieldPath(field);
    const missing = { [path]: { $exists: false } };
    const value = values[at] ?? null;
    if (value === null)
      return { tied: missing, further: side === 'after' ? [] : [{ [path]: anyValue(type) }], notBefore: [] };
    const is = (operator: Comparison['operator']) => ({ [path]: comparison(type, operator, value) });
    const [beyond, notBefore] = isAscending(descending, side) ? [is('gt'), is('gte')] : [is('lt'), is('lte')];
    const isLast = side === 'after' && at > 0 && !required;
    return { tied: is('eq'), further: isLast ? [beyond, missing] : [beyond], notBefore: [notBefore] };
  });
  const branches = keys.flatMap(({ further, notBefore }, at) => {
    const ties = keys.slice(0, at).map(({ tied }) => tied);
    const ends = inclusive && at === keys.length - 1 ? notBefore : further;
    return ends.map((end) => ({ $and: [...ties, end] }));
  });
  return [...(keys[0]?.notBefore ?? []), { $or: branches }];
}

function isAscending(descending: boolean, side: Position['side']): boolean {
  return descending === (side === 'before');
}
