import type { Filter, RecordTable, Value } from '../../../application/list-query.js';
import { comparedValue, compareValues, prefixRange } from '../../../application/record-order.js';
import { allOf, type Sql, sql } from './sql.js';

export interface Bound {
  readonly value: Value;
  readonly inclusive: boolean;
}

/** The values of one column that some filters leave, from low to high. */
export interface Range {
  readonly low?: Bound | undefined;
  readonly high?: Bound | undefined;
}

/** Whether what a filter leaves lies together in the order of its column. */
export function isRange({ operator }: Filter): boolean {
  return !['ne', 'in', 'attribute'].includes(operator);
}

/** @param filters of one column, each a range */
export function rangeOf(table: RecordTable, filters: readonly Filter[]): Range {
  return filters
    .map((filter) => rangeOfOne(table, filter))
    .reduce<Range>(
      (range, { low, high }) => ({ low: tighter(range.low, low, 1), high: tighter(range.high, high, -1) }),
      {},
    );
}

export function rangeCondition(column: string, { low, high }: Range): Sql {
  return allOf([
    ...(low ? [sql(`${column} >${low.inclusive ? '=' : ''} ?`, low.value)] : []),
    ...(high ? [sql(`${column} <${high.inclusive ? '=' : ''} ?`, high.value)] : []),
  ]);
}

/** @param sign 1 for a lower bound, of which the higher is tighter, and -1 for an upper */
export function tighter(a: Bound | undefined, b: Bound | undefined, sign: 1 | -1): Bound | undefined {
  if (!a || !b) return a ?? b;
  const difference = compareValues(a.value, b.value) * sign;
  if (difference === 0) return a.inclusive ? b : a;
  return difference > 0 ? a : b;
}

function rangeOfOne(table: RecordTable, filter: Filter): Range {
  if (filter.operator === 'attribute' || filter.operator === 'in') return {};
  const value = comparedValue(table, filter, filter.value);
  const bound = (inclusive: boolean): Bound => ({ value, inclusive });
  switch (filter.operator) {
    case 'eq':
      return { low: bound(true), high: bound(true) };
    case 'gt':
    case 'gte':
      return { low: bound(filter.operator === 'gte') };
    case 'lt':
    case 'lte':
      return { high: bound(filter.operator === 'lte') };
    case 'prefix':
      return rangeOfPrefix(String(value));
    default:
      return {};
  }
}

function rangeOfPrefix(prefix: string): Range {
  const { from, before } = prefixRange(prefix);
  return {
    low: { value: from, inclusive: true },
    high: before === undefined ? undefined : { value: before, inclusive: false },
  };
}
