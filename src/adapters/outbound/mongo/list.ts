import type { AbstractCursor, Collection, Document } from 'mongodb';
import {
  type Comparison,
  type Facet,
  type FacetField,
  type FacetQuery,
  type FacetValue,
  type Filter,
  type ListPage,
  type ListQuery,
  MAX_PAGE_BYTES,
  type Position,
  type RecordTable,
  type SortOrder,
} from '../../../application/ports/list-query.js';
import { hasOnlyIdFilters, type IdRange, idRange } from '../../../application/records/block-scan.js';
import { decidingKeys } from '../../../application/records/list-indexes.js';
import { specOf } from '../../../application/records/query-semantics.js';
import type { StoredRecord } from '../../../application/records/record-json.js';
import {
  fieldPath,
  type LiveDocument,
  recordOf,
  type StoredDocument,
  WITHOUT_WORDS,
  WORDS_INDEX,
} from './documents.js';
import { isCursorLost } from './errors.js';
import { anyValue, comparison, conditionOf, conditionsOf, rangeConditions } from './filter.js';

/** The documents of a batch. The server ends a batch earlier if it reaches 16 MiB. */
export const BATCH = 250;

/**
 * The options that read a snapshot. A write that changes an indexed value moves the document within the index, so a
 * scan without a snapshot could miss a document that was in the list all the time.
 */
export const SNAPSHOT_READ = { readConcern: { level: 'snapshot' } } as const;

/** Reads a page, and once more if the server loses its cursor: nothing of the first attempt was returned. */
export async function readPage<Fields>(...page: PageParameters): Promise<ListPage<StoredRecord<Fields>>> {
  try {
    return await readOnce<Fields>(...page);
  } catch (error) {
    if (!isCursorLost(error)) throw error;
    return readOnce<Fields>(...page);
  }
}

type PageParameters = [
  collection: Collection<StoredDocument>,
  table: RecordTable,
  query: ListQuery,
  maxTimeMS: number,
  /** Of a search that is read block by block. It takes the place of the position. */
  range?: IdRange,
];

/** Reads one record more than the page holds, to find out whether there are more. */
async function readOnce<Fields>(
  ...[collection, table, query, maxTimeMS, range]: PageParameters
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
  const toRecord = (document: LiveDocument) => recordOf<Fields>(document).asText();
  const { items: records, hasMore } = await readUpTo(limit, bytes, cursor, toRecord, ({ fieldsBytes }) => fieldsBytes);
  return { records: side === 'before' ? records.reverse() : records, hasMore };
}

/**
 * Returns the option that makes the server read the index of words. Without it the server could choose the index on
 * the id once for a common word, and keep that plan for a rare one. If other filters decide too, it chooses itself.
 */
export function hintFor(filters: readonly Filter[], range: IdRange | undefined): { hint?: string } {
  return range && hasOnlyIdFilters(filters) ? { hint: WORDS_INDEX.name } : {};
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
      return [...(lack === undefined ? [] : [[lack, direction(false)]]), [fieldPath(field), direction(descending)]];
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

/** Counts the documents with these filters; those that share a value in a field count once. */
export async function countDistinct(
  collection: Collection<StoredDocument>,
  table: RecordTable,
  filters: readonly Filter[],
  distinct: string,
  maxTimeMS: number,
): Promise<number> {
  const { conditions, hint } = matching(table, filters);
  const [found] = await collection
    .aggregate<{ readonly count: number }>(
      [{ $match: { $and: conditions } }, { $group: { _id: sharedOrOwn(table, distinct) } }, { $count: 'count' }],
      { ...SNAPSHOT_READ, ...hint, allowDiskUse: true, maxTimeMS },
    )
    .toArray();
  return found?.count ?? 0;
}

/** The conditions of a search that is not read block by block, or of no search, and the index to read. */
function matching(table: RecordTable, filters: readonly Filter[]) {
  const isSearch = filters.some(({ operator }) => operator === 'search');
  const range = isSearch ? idRange({ filters, order: [] }) : undefined;
  const conditions = [...conditionsOf(table, filters), ...(range ? rangeConditions(range) : [])];
  return { conditions, hint: hintFor(filters, range) };
}

/** What documents count once by: the value of a field, which is a text, else their id, which is a number. */
function sharedOrOwn(table: RecordTable, field: string): Document {
  specOf(table, field);
  return { $ifNull: [`$${fieldPath(field)}`, '$_id'] };
}

/** A value of a facet, with its rank among those of the same count. */
interface Counted {
  readonly _id: FacetValue;
  readonly count: number;
}

/**
 * Counts the documents with these filters by their values, in one aggregation: the documents are read once, and all
 * facets show one moment. The one document of `$facet` holds the values of the page alone, so it is far from the limit of
 * 16 MiB (https://www.mongodb.com/docs/manual/reference/operator/aggregation/facet/).
 */
export async function readFacets(
  collection: Collection<StoredDocument>,
  table: RecordTable,
  query: FacetQuery,
  maxTimeMS: number,
): Promise<Facet[]> {
  const { filters, fields, limit } = query;
  const { conditions, hint } = matching(table, filters);
  const [only] = fields.length === 1 ? fields : [];
  if (only) conditions.push(hasValue(table, only, query));
  const facets = Object.fromEntries(fields.map((field, at) => [`f${at}`, stagesOf(table, field, query)]));
  const found = collection.aggregate<Record<string, Counted[]>>(
    [{ $match: { $and: conditions } }, { $facet: facets }],
    { ...SNAPSHOT_READ, ...hint, allowDiskUse: true, maxTimeMS },
  );
  const [all = {}] = await found.toArray();
  return fields.map((_, at) => {
    const counts = all[`f${at}`] ?? [];
    const values = counts.slice(0, limit).map(({ _id: value, count }) => ({ value, count }));
    return { values, hasMore: counts.length > limit };
  });
}

/** The condition on the documents that have a value of a facet, which an index on the field serves. */
function hasValue(table: RecordTable, { field, key }: FacetField, { prefix }: FacetQuery): Document {
  if (key !== undefined) {
    const value = prefix === undefined ? {} : { value: beginsWith(prefix) };
    return { [fieldPath(field)]: { $elemMatch: { key: { $eq: key }, ...value } } };
  }
  return prefix === undefined
    ? conditionOf(table, { field, operator: 'exists', value: true })
    : conditionOf(table, { field, operator: 'prefix', value: prefix });
}

function beginsWith(prefix: string): Document {
  return comparison('text', 'prefix', prefix);
}

/** The stages that count values and leave those of the page, and one more if there are more. */
function stagesOf(table: RecordTable, field: FacetField, query: FacetQuery): Document[] {
  const { prefix, after, limit, distinct } = query;
  const shared = distinct === undefined ? {} : { shared: sharedOrOwn(table, distinct) };
  return [
    { $project: { _id: 0, value: valueExpression(table, field), ...shared } },
    // A value that is no list is as a list of one; one that is missing or null is as an empty list.
    { $unwind: '$value' },
    ...(prefix === undefined ? [] : [{ $match: { value: beginsWith(prefix) } }]),
    ...(distinct === undefined
      ? []
      : [{ $group: { _id: '$shared', value: { $addToSet: '$value' } } }, { $unwind: '$value' }]),
    { $group: { _id: '$value', count: { $sum: 1 } } },
    { $addFields: { rank: RANK } },
    ...(after ? [{ $match: behind(after) }] : []),
    { $sort: { count: -1, rank: 1, _id: 1 } },
    { $limit: limit + 1 },
  ];
}

/**
 * The expression of a value, or of a list of values. The keys of attributes have the same places as their values, and a
 * key that is not there has the place -1: the last one.
 */
function valueExpression(table: RecordTable, { field, key }: FacetField): string | Document {
  specOf(table, field);
  const path = `$${fieldPath(field)}`;
  if (key === undefined) return path;
  const place = { $indexOfArray: [`${path}.key`, { $literal: key }] };
  return { $arrayElemAt: [{ $concatArrays: [`${path}.value`, [null]] }, place] };
}

/**
 * Texts, numbers, booleans. The server's order of types is numbers, texts, objects, booleans
 * (https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/).
 */
const TYPES = ['string', 'number', 'boolean'];
const RANK = {
  $cond: [
    { $lt: ['$_id', ''] },
    TYPES.indexOf('number'),
    { $cond: [{ $lt: ['$_id', { $literal: {} }] }, TYPES.indexOf('string'), TYPES.indexOf('boolean')] },
  ],
};

/** The condition on what comes behind a value. */
function behind({ value, count }: NonNullable<FacetQuery['after']>): Document {
  const rank = TYPES.indexOf(typeof value);
  return {
    $or: [{ count: { $lt: count } }, { count, rank: { $gt: rank } }, { count, rank, _id: { $gt: value } }],
  };
}
