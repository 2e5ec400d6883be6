/** The columns of records, their order, and the rows beyond a position of it, for the stores that speak SQL. */
import type { ListQuery, Position, RecordTable, SortKey, Value } from '../../../application/ports/list-query.js';
import { specOf } from '../../../application/records/query-semantics.js';
import { StoredRecord } from '../../../application/records/record-json.js';
import type { Id, Instant } from '../../../domain/record.js';

/** What a record is read from. */
export const RECORD_COLUMNS = 'id, version, created_at, updated_at, fields';

export type RecordRow = [id: Id, version: number, createdAt: Instant, updatedAt: Instant, fields: string];

export function recordOf<Fields>(row: RecordRow): StoredRecord<Fields> {
  return StoredRecord.fromJson<Fields>(...row);
}

const SYSTEM_COLUMNS: Readonly<Record<string, string>> = {
  id: 'id',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
};

/** @param field of `specOf`, so that no other name gets into a statement */
export function columnOf(field: string): string {
  return SYSTEM_COLUMNS[field] ?? `"${field}"`;
}

export function foldedColumnOf(field: string): string {
  return `"${field} folded"`;
}

/** The column in which no two records share a value. */
export function uniqueColumnOf({ fields }: Pick<RecordTable, 'fields'>, field: string): string {
  return fields[field]?.ignoresCase ? foldedColumnOf(field) : columnOf(field);
}

/** The table with the values of lists, and those of attributes if they have no column, of another table. */
export function valuesTable(table: string): string {
  return `${table}_values`;
}

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
    return nulls === 'FIRST' ? `(${column} IS NOT NULL OR ${beyondTies()})` : `(${column} IS NULL AND ${beyondTies()})`;
  const sign = descending ? '<' : '>';
  if (order.every((key) => !key.isOptional && key.descending === descending)) {
    const columns = order.map((key) => key.column).join(', ');
    const places = values.slice(0, order.length).map((own) => bind(own ?? ''));
    return `(${columns}) ${sign}${inclusive ? '=' : ''} (${places.join(', ')})`;
  }
  if (!isOptional) return `${column} ${sign}= ${bind(value)} AND (${column} ${sign} ${bind(value)} OR ${beyondTies()})`;
  const without = nulls === 'LAST' ? ` OR ${column} IS NULL` : '';
  return `(${column} ${sign} ${bind(value)}${without} OR ${column} = ${bind(value)} AND ${beyondTies()})`;
}
