import type { Comparison, Position, SortOrder, Value } from '#src/application/ports/list-query.js';
import { type Id, MAX_ID, type Versioned } from '#src/domain/record.js';

/** The expected results of lists, computed independently of any store. */

const TEXTS = ['name', 'email'];
const FAR = Date.UTC(9999, 0);

type Operator = Comparison['operator'];

/** Whether a value matches, by operator. Texts compare by their bytes in UTF-8. */
export const MATCHES: Readonly<Record<Operator, (own: Value, value: Value) => boolean>> = {
  eq: (own, value) => compareValues(own, value) === 0,
  ne: (own, value) => compareValues(own, value) !== 0,
  lt: (own, value) => compareValues(own, value) < 0,
  lte: (own, value) => compareValues(own, value) <= 0,
  gt: (own, value) => compareValues(own, value) > 0,
  gte: (own, value) => compareValues(own, value) >= 0,
  prefix: (own, value) => bytes(own).subarray(0, bytes(value).length).equals(bytes(value)),
};

export const NUMBER_OPERATORS: readonly Operator[] = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte'];
export const TEXT_OPERATORS: readonly Operator[] = [...NUMBER_OPERATORS, 'prefix'];

export type NamedRecord = Versioned<{ readonly name: string }>;

export function compareByOrder(order: SortOrder, a: Position['values'], b: Position['values']): number {
  const [one, other] = [a, b].map((values) => values.map((value) => comparable(value ?? '')));
  return compareKeys(order, one ?? [], other ?? []);
}

function compareKeys(order: SortOrder, a: readonly Key[], b: readonly Key[]): number {
  for (const [at, { descending }] of order.entries()) {
    const difference = compare(a[at] ?? 0, b[at] ?? 0);
    if (difference !== 0) return descending ? -difference : difference;
  }
  return 0;
}

export function keysOf(record: NamedRecord, order: SortOrder): Value[] {
  return order.map(({ field }) =>
    TEXTS.includes(field) ? record.fields.name : record[field as 'id' | 'createdAt' | 'updatedAt'],
  );
}

/** The records in this order. */
export function sorted<One extends NamedRecord>(records: readonly One[], order: SortOrder): One[] {
  return records
    .map((record) => ({ record, keys: keysOf(record, order).map(comparable) }))
    .toSorted((a, b) => compareKeys(order, a.keys, b.keys))
    .map(({ record }) => record);
}

/** The position before all records for the side `after`, and behind them for `before`. */
export function outermostPosition(order: SortOrder, side: Position['side']): Position {
  const values = order.map(({ field, descending }) => {
    const [low, high] = TEXTS.includes(field)
      ? ['', '\u{10ffff}'.repeat(3)]
      : [0, field === 'id' ? MAX_ID : FAR];
    return (side === 'before') === descending ? low : high;
  });
  return { side, inclusive: true, values };
}

/** The ids of the values that pass the test. */
export function idsWhere(values: ReadonlyMap<Id, Value>, test: (own: Value) => boolean): Id[] {
  return [...values].filter(([, own]) => test(own)).map(([id]) => id);
}

function compareValues(a: Value, b: Value): number {
  return compare(comparable(a), comparable(b));
}

/** A number, or the bytes of a text. */
type Key = number | Buffer;

function comparable(value: Value): Key {
  return typeof value === 'number' ? value : bytes(value);
}

function compare(a: Key, b: Key): number {
  return typeof a === 'number' || typeof b === 'number' ? Number(a) - Number(b) : Buffer.compare(a, b);
}

function bytes(text: Value): Buffer {
  return Buffer.from(String(text), 'utf8');
}
