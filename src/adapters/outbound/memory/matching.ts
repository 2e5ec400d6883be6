import type { AttributeFilter, Filter, RecordTable, Value } from '../../../application/list-query.js';
import {
  attributeValues,
  comparedValue,
  compareValues,
  fieldValue,
  isFolded,
} from '../../../application/record-order.js';
import type { Versioned } from '../../../domain/record.js';
import { foldCase } from '../../../domain/text.js';

export function matchesFilter(table: RecordTable, record: Versioned<unknown>, filter: Filter): boolean {
  if (filter.operator === 'attribute') return hasAttribute(record, filter);
  const own = fieldValue(record, filter.field);
  if (own === undefined) return false;
  const value = typeof own === 'string' && isFolded(table, filter) ? foldCase(own) : own;
  if (filter.operator === 'in')
    return filter.values.some((one) => comparedValue(table, filter, one) === value);
  const other = comparedValue(table, filter, filter.value);
  return COMPARISONS[filter.operator](value, other);
}

/** What no two records share: the value of a unique field, without its case where the field ignores that. */
export function uniqueValueOf(
  { fields }: RecordTable,
  record: Versioned<unknown>,
  field: string,
): Value | undefined {
  const value = fieldValue(record, field);
  return typeof value === 'string' && fields[field]?.ignoresCase ? foldCase(value) : value;
}

const COMPARISONS = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => compareValues(a, b) < 0,
  lte: (a, b) => compareValues(a, b) <= 0,
  gt: (a, b) => compareValues(a, b) > 0,
  gte: (a, b) => compareValues(a, b) >= 0,
  prefix: (a, b) => String(a).startsWith(String(b)),
} satisfies Record<string, (a: Value, b: Value) => boolean>;

function hasAttribute(record: Versioned<unknown>, filter: AttributeFilter): boolean {
  const { attributes = {} } = record.fields as { attributes?: Readonly<Record<string, unknown>> };
  if (!Object.hasOwn(attributes, filter.key)) return false;
  return attributeValues(filter).some((value) => value === attributes[filter.key]);
}
