/** The order of rows, and the rows beyond a position of it, for the stores that speak SQL. */
import type {
  ListQuery,
  Position,
  RecordTable,
  SortKey,
  Value,
} from '../../../application/ports/list-query.js';
import { specOf } from '../../../application/records/query-semantics.js';
import { columnOf } from './columns.js';

/** A key by which rows are read. */
export interface ScanKey extends SortKey {
  readonly column: string;
  /** Whether rows may have no value. Each has one of the first key. */
  readonly isOptional: boolean;
  /** Where the rows without a value stand. */
  readonly nulls: 'FIRST' | 'LAST';
}

/**
 * The order in which rows are read: the order of the list, reversed if the page lies before its position.
 * @throws Error if the table has no such field, so that no other name gets into a statement
 */
export function scanOrder(table: RecordTable, { order, from }: Pick<ListQuery, 'order' | 'from'>): ScanKey[] {
  const isReversed = from?.side === 'before';
  return order.map(({ field, descending }, at) => ({
    field,
    isOptional: !specOf(table, field).required && at > 0,
    column: columnOf(field),
    descending: descending !== isReversed,
    nulls: isReversed ? 'FIRST' : 'LAST',
  }));
}

/** The terms of an order. */
export function orderBy(order: readonly ScanKey[]): string {
  const keys = order.map(({ column, descending, isOptional, nulls }) => {
    return `${column}${descending ? ' DESC' : ''}${isOptional ? ` NULLS ${nulls}` : ''}`;
  });
  return keys.join(', ');
}

/**
 * The condition on the rows beyond a position. If all keys have one direction and a value, it compares rows, which is one
 * range of an index; else the first key alone bounds the range.
 * @param bind returns the place of a value; called in the order of the places in the condition
 */
export function keysetCondition(
  order: readonly ScanKey[],
  { values, inclusive }: Pick<Position, 'values' | 'inclusive'>,
  bind: (value: Value) => string,
): string {
  const [first, ...others] = order;
  if (!first) return inclusive ? 'TRUE' : 'FALSE';
  const { column, descending, isOptional, nulls } = first;
  const [value = null, ...rest] = values;
  const beyondTies = () => keysetCondition(others, { values: rest, inclusive }, bind);
  if (value === null)
    return nulls === 'FIRST'
      ? `(${column} IS NOT NULL OR ${beyondTies()})`
      : `(${column} IS NULL AND ${beyondTies()})`;
  const sign = descending ? '<' : '>';
  if (order.every((key) => !key.isOptional && key.descending === descending)) {
    const columns = order.map((key) => key.column).join(', ');
    const places = values.slice(0, order.length).map((own) => bind(own ?? ''));
    return `(${columns}) ${sign}${inclusive ? '=' : ''} (${places.join(', ')})`;
  }
  if (!isOptional)
    return `${column} ${sign}= ${bind(value)} AND (${column} ${sign} ${bind(value)} OR ${beyondTies()})`;
  const without = nulls === 'LAST' ? ` OR ${column} IS NULL` : '';
  return `(${column} ${sign} ${bind(value)}${without} OR ${column} = ${bind(value)} AND ${beyondTies()})`;
}
