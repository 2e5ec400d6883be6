import type { Versioned } from '../../domain/record.js';
import { foldCase } from '../../domain/text.js';
import type { AttributeFilter, Filter, RecordTable, Value } from './list-query.js';
import { attributeValues, comparedValue, compareValues, fieldValue } from './query-semantics.js';

/** The meaning of a filter, for stores that have no query language. A record without the field matches no filter. */
export function matchesFilter(table: RecordTable, record: Versioned<unknown>, filter: Filter): boolean {
  if (filter.operator === 'attribute') return hasAttribute(record, filter);
  const own = fieldValue(record, filter.field);
  if (own === undefined) return false;
  const value = comparedValue(table, filter, own);
  if (filter.operator === 'in')
    return filter.values.some((one) => comparedValue(table, filter, one) === value);
  return COMPARISONS[filter.operator](value, comparedValue(table, filter, filter.value));
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

/** The value that no two records share: that of a unique field, case-folded if the field ignores case. */
export function uniqueValueOf(
  { fields }: RecordTable,
  record: Versioned<unknown>,
  field: string,
): Value | undefined {
  const value = fieldValue(record, field);
  return typeof value === 'string' && fields[field]?.ignoresCase ? foldCase(value) : value;
}

/**
 * The first records, at most `limit`. The record that reaches `maxBytes` of JSON is the last; so a page is never
 * empty.
 */
export function takePage<Record extends Versioned<unknown>>(
  records: readonly Record[],
  limit: number,
  maxBytes: number,
): Record[] {
  let bytes = 0;
  const fitting = records.slice(0, limit);
  const end = fitting.findIndex((record) => {
    if (bytes >= maxBytes) return true;
    bytes += Buffer.byteLength(JSON.stringify(record));
    return false;
  });
  return end < 0 ? fitting : fitting.slice(0, end);
}
