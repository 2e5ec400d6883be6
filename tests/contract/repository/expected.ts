import type { Position, SortOrder, Value } from '#src/application/ports/list-query.js';
import { MAX_ID, type Versioned } from '#src/domain/record.js';

/** The expected results of lists, computed independently of any store. */

const TEXTS = ['name', 'email'];
const FAR = Date.UTC(9999, 0);

export type NamedRecord = Versioned<{ readonly name: string }>;

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
    const [low, high] = TEXTS.includes(field) ? ['', '\u{10ffff}'.repeat(3)] : [0, field === 'id' ? MAX_ID : FAR];
    return (side === 'before') === descending ? low : high;
  });
  return { side, inclusive: true, values };
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
