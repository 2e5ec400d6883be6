import type { Versioned } from '../domain/record.js';
import { compareText, endOfPrefix, foldCase } from '../domain/text.js';
import type { AttributeFilter, Filter, ListPlace, Order, RecordTable, Value } from './list-query.js';

/** A record's value of a field, `price.amount` being inside `price`. */
export function fieldValue(record: Versioned<unknown>, field: string): Value | undefined {
  if (field === 'id' || field === 'createdAt' || field === 'updatedAt') return record[field];
  let value: unknown = record.fields;
  for (const step of field.split('.')) value = (value as Record<string, unknown> | undefined)?.[step];
  return value as Value | undefined;
}

export function compareValues(a: Value, b: Value): number {
  return typeof a === 'string' || typeof b === 'string' ? compareText(String(a), String(b)) : a - b;
}

/** @returns below 0 where `a` comes first; both hold a value for each key */
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

/** Lists are in order of fields that every record has. */
function given(value: Value | undefined): Value {
  if (value === undefined) throw new Error('A value of the order is missing.');
  return value;
}

/** The place of a record in an order. */
export function placeAt(
  record: Versioned<unknown>,
  order: Order,
  side: ListPlace['side'],
  inclusive = false,
): ListPlace {
  return { side, inclusive, values: valuesOf(record, order) };
}

/** Whether two values count as different only by their case, for the filters that heed no order. */
export function isFolded({ fields }: RecordTable, { field, operator }: Filter): boolean {
  return fields[field]?.ignoresCase === true && ['eq', 'ne', 'in', 'prefix'].includes(operator);
}

/** The value of a filter as it is compared: in a field that ignores case, without it. */
export function comparedValue(table: RecordTable, filter: Filter, value: Value): Value {
  return typeof value === 'string' && isFolded(table, filter) ? foldCase(value) : value;
}

/** What an attribute may be to be written as this text. */
export function attributeValues({ value: text }: AttributeFilter): (string | number | boolean)[] {
  const number = Number(text);
  return [
    text,
    ...(String(number) === text && Number.isFinite(number) ? [number] : []),
    ...(text === 'true' || text === 'false' ? [text === 'true'] : []),
  ];
}

/** Texts that begin with a prefix, as a range. */
export function prefixRange(prefix: string): { readonly from: string; readonly before: string | undefined } {
  return { from: prefix, before: endOfPrefix(prefix) };
}
