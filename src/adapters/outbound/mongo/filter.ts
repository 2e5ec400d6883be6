import type { Document } from 'mongodb';
import type { AttributeFilter, Filter, RecordTable } from '../../../application/list-query.js';
import { attributeValues, comparedValue, isFolded } from '../../../application/record-order.js';
import { fieldPath, foldedPath, specOf } from './paths.js';
import { comparison, membership } from './predicate.js';

/** What holds of the documents whose records are in a list with these filters. */
export function conditionsOf(table: RecordTable, filters: readonly Filter[]): Document[] {
  return [{ live: true }, ...filters.map((filter) => conditionOf(table, filter))];
}

function conditionOf(table: RecordTable, filter: Filter): Document {
  if (filter.operator === 'attribute') return attributeCondition(filter);
  const { type } = specOf(table, filter.field);
  const path = isFolded(table, filter) ? foldedPath(filter.field) : fieldPath(filter.field);
  if (filter.operator !== 'in')
    return { [path]: comparison(type, filter.operator, comparedValue(table, filter, filter.value)) };
  const values = filter.values.map((value) => comparedValue(table, filter, value));
  return { [path]: membership(type, values) };
}

/** Attributes are kept as a list of key and value. */
function attributeCondition(filter: AttributeFilter): Document {
  const entry = { key: { $eq: filter.key }, value: { $in: attributeValues(filter) } };
  return { [fieldPath(filter.field)]: { $elemMatch: entry } };
}
