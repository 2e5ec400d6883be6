import type { Versioned } from '../../domain/record.js';
import { compareText, endOfPrefix, foldCase } from '../../domain/text.js';
import type { AttributeFilter, Filter, Order, Position, RecordTable, Value } from './list-query.js';

/** The value of a field in a record. `price.amount` is inside `price`. */
export function fieldValue(record: Versioned<unknown>, field: string): Value | undefined {
  if (field === 'id' || field === 'createdAt' || field === 'updatedAt') return record[field];
  let value: unknown = record.fields;
  for (const step of field.split('.')) value = (value as Record<string, unknown> | undefined)?.[step];
  return value as Value | undefined;
}

export function compareValues(a: Value, b: Value): number {
  return typeof a === 'string' || typeof b === 'string' ? compareText(String(a), String(b)) : a - b;
}

/** @returns below 0 if `a` comes first. Both have a value for each key. */
export function compareInOrder(order: Order, a: readonly Value[], b: readonly Value[]): number {
  for (const [at, { descending }] of order.entries()) {
    const difference = compareValues(given(a[at]), given(b[at]));
    if (difference !== 0) return descending ? -difference : difference;
  }
  return 0;
}

export function valuesOf(record: Versioned<unknown>, order: Order): Value[] {
  return order.map(({ field }) => given(fieldValue(record, field)));
}

/** Lists are sorted by fields that every record has. */
function given(value: Value | undefined): Value {
  if (value === undefined) throw new Error('A value of the order is missing.');
  return value;
}

/** The position of a record in an order. */
export function positionOf(
  record: Versioned<unknown>,
  order: Order,
  side: Position['side'],
  inclusive = false,
): Position {
  return { side, inclusive, values: valuesOf(record, order) };
}

/** Whether a filter ignores case. Filters that depend on the order never do. */
export function isFolded({ fields }: RecordTable, { field, operator }: Filter): boolean {
  return fields[field]?.ignoresCase === true && ['eq', 'ne', 'in', 'prefix'].includes(operator);
}

/** The value of a filter as it is compared: folded if the filter ignores case. */
export function comparedValue(table: RecordTable, filter: Filter, value: Value): Value {
  return typeof value === 'string' && isFolded(table, filter) ? foldCase(value) : value;
}

/** Every attribute value that is written like this text. */
export function attributeValues({ value: text }: AttributeFilter): (string | number | boolean)[] {
  const number = Number(text);
  return [
    text,
    ...(String(number) === text && Number.isFinite(number) ? [number] : []),
    ...(text === 'true' || text === 'false' ? [text === 'true'] : []),
  ];
}

/** The texts that start with a prefix, as a range. */
export function prefixRange(prefix: string): { readonly from: string; readonly before: string | undefined } {
  return { from: prefix, before: endOfPrefix(prefix) };
}
