import type { Comparison, Order, Position, Value } from '#src/application/records/list-query.js';
import { type Id, MAX_ID, type Versioned } from '#src/domain/record.js';

/** What lists must answer, reckoned in another way than in any store. */

const TEXTS = ['name', 'email'];
const FAR = Date.UTC(9999, 0);

type Operator = Comparison['operator'];

/** Every operator but `in`, of the bytes of texts. */
export const HOLDS: Readonly<Record<Operator, (own: Value, value: Value) => boolean>> = {
  eq: (own, value) => compared(own, value) === 0,
  ne: (own, value) => compared(own, value) !== 0,
  lt: (own, value) => compared(own, value) < 0,
  lte: (own, value) => compared(own, value) <= 0,
  gt: (own, value) => compared(own, value) > 0,
  gte: (own, value) => compared(own, value) >= 0,
  prefix: (own, value) => bytes(own).subarray(0, bytes(value).length).equals(bytes(value)),
};

export const OF_NUMBERS: readonly Operator[] = ['eq', 'ne', 'lt', 'lte', 'gt', 'gte'];
export const OF_TEXTS: readonly Operator[] = [...OF_NUMBERS, 'prefix'];

export type Keyed = Versioned<{ readonly name: string }>;

export function comparedBy(order: Order, a: readonly Value[], b: readonly Value[]): number {
  const differences = order.map(
    ({ descending }, at) => compared(a[at] ?? '', b[at] ?? '') * (descending ? -1 : 1),
  );
  return differences.find((difference) => difference !== 0) ?? 0;
}

export function keysOf(record: Keyed, order: Order): Value[] {
  return order.map(({ field }) =>
    TEXTS.includes(field) ? record.fields.name : record[field as 'id' | 'createdAt' | 'updatedAt'],
  );
}

/** In order. */
export function sorted<One extends Keyed>(records: readonly One[], order: Order): One[] {
  return records.toSorted((a, b) => comparedBy(order, keysOf(a, order), keysOf(b, order)));
}

/** The place before all records (`after` it they lie), or behind them. */
export function beyondAll(order: Order, side: Position['side']): Position {
  const values = order.map(({ field, descending }) => {
    const [low, high] = TEXTS.includes(field)
      ? ['', '\u{10ffff}'.repeat(3)]
      : [0, field === 'id' ? MAX_ID : FAR];
    return (side === 'before') === descending ? low : high;
  });
  return { side, inclusive: true, values };
}

/** The ids whose value the test holds for. */
export function idsWhere(values: ReadonlyMap<Id, Value>, test: (own: Value) => boolean): Id[] {
  return [...values].filter(([, own]) => test(own)).map(([id]) => id);
}

function compared(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return Buffer.compare(bytes(a), bytes(b));
}

function bytes(text: Value): Buffer {
  return Buffer.from(String(text), 'utf8');
}
