import { createHash } from 'node:crypto';
import type {
  Filter,
  ListQuery,
  Order,
  Position,
  Value,
} from '../../../../application/records/list-query.js';
import { type FieldSpec, type FieldSpecs, SYSTEM_FIELDS } from '../../../../domain/fields.js';

const CHECK_LENGTH = 8;
const FINGERPRINT_LENGTH = 12;
/** A character that no text of a record contains. */
const LONE_SURROGATE = /\p{Cs}/u;

/** A position in a list. Opaque to clients. */
export interface Cursor {
  readonly position: Position;
  /** Identifies the filters and the order that the position belongs to. */
  readonly fingerprint: string;
}

/**
 * The checksum detects a cursor that was cut, changed or made for another list. It is not a secret, because a
 * position gives access to nothing.
 * @param list the name of the list
 */
export function encodeCursor(list: string, { position, fingerprint }: Cursor): string {
  const text = JSON.stringify([position.side, position.inclusive, fingerprint, position.values]);
  return Buffer.from(check(list, text) + text).toString('base64url');
}

/** @returns undefined if this list never gave such a cursor */
export function decodeCursor(list: string, text: string): Cursor | undefined {
  const decoded = Buffer.from(text, 'base64url').toString('utf8').slice(CHECK_LENGTH);
  const cursor = asCursor(parsed(decoded));
  return cursor && encodeCursor(list, cursor) === text ? cursor : undefined;
}

/** ECMA-262 section 21.4.1.1: the largest time, in milliseconds from 1970 in either direction. */
const MAX_INSTANT = 8_640_000_000_000_000;

/** The same for the same filters in any order, and for the same sort in any notation. */
export function fingerprintOf({ filters, order }: Pick<ListQuery, 'filters' | 'order'>): string {
  const sorted = filters.map((filter: Filter) => JSON.stringify(filter)).sort();
  return hash(JSON.stringify([order, sorted])).slice(0, FINGERPRINT_LENGTH);
}

/** Whether a position has a value of the right type for each key of the order. */
export function isPositionIn(order: Order, fields: FieldSpecs, { values }: Position): boolean {
  const known = new Map(Object.entries({ ...SYSTEM_FIELDS, ...fields }));
  return (
    values.length === order.length &&
    order.every(({ field }, at) => isOfType(known.get(field)?.type, values[at]))
  );
}

function isOfType(type: FieldSpec['type'] | undefined, value: Value | undefined): boolean {
  if (type === 'text') return typeof value === 'string' && !LONE_SURROGATE.test(value);
  if (!Number.isSafeInteger(value)) return false;
  return type !== 'instant' || Math.abs(Number(value)) <= MAX_INSTANT;
}

function asCursor(value: unknown): Cursor | undefined {
  if (!Array.isArray(value)) return undefined;
  const [side, inclusive, fingerprint, values] = value as unknown[];
  if ((side !== 'after' && side !== 'before') || typeof inclusive !== 'boolean') return undefined;
  if (typeof fingerprint !== 'string' || !Array.isArray(values) || !values.every(isValue)) return undefined;
  return { position: { side, inclusive, values }, fingerprint };
}

function isValue(value: unknown): value is Value {
  return typeof value === 'string' || typeof value === 'number';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function check(list: string, text: string): string {
  return hash(`${list}\n${text}`).slice(0, CHECK_LENGTH);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
