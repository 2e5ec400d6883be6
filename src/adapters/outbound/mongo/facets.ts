import type { Collection, Document } from 'mongodb';
import type {
  Facet,
  FacetField,
  FacetQuery,
  FacetValue,
  RecordTable,
} from '../../../application/ports/list-query.js';
import { specOf } from '../../../application/records/query-semantics.js';
import { idRange } from '../../../application/search/id-range.js';
import { fieldPath, type StoredDocument } from './documents.js';
import { comparison, conditionOf, conditionsOf } from './filter.js';
import { hintFor, SNAPSHOT_READ } from './list.js';
import { rangeConditions } from './words.js';

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
  const isSearch = filters.some(({ operator }) => operator === 'search');
  const range = isSearch ? idRange({ filters, order: [] }) : undefined;
  const conditions = [...conditionsOf(table, filters), ...(range ? rangeConditions(range) : [])];
  const [only] = fields.length === 1 ? fields : [];
  if (only) conditions.push(hasValue(table, only, query));
  const facets = Object.fromEntries(fields.map((field, at) => [`f${at}`, stagesOf(table, field, query)]));
  const found = collection.aggregate<Record<string, Counted[]>>(
    [{ $match: { $and: conditions } }, { $facet: facets }],
    { ...SNAPSHOT_READ, ...hintFor(filters, range), allowDiskUse: true, maxTimeMS },
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
function stagesOf(table: RecordTable, field: FacetField, { prefix, after, limit }: FacetQuery): Document[] {
  return [
    { $project: { _id: 0, value: valueExpression(table, field) } },
    // A value that is no list is as a list of one; one that is missing or null is as an empty list.
    { $unwind: '$value' },
    ...(prefix === undefined ? [] : [{ $match: { value: beginsWith(prefix) } }]),
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
