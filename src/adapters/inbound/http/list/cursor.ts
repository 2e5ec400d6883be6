import {
  BY_ID,
  type Filter,
  type ListQuery,
  type Position,
  type SortOrder,
  type Value,
} from '../../../../application/ports/list-query.js';
import { type FieldSpec, type FieldSpecs, SYSTEM_FIELDS } from '../../../../domain/fields.js';
import { sha256 } from '../core/etag.js';

const CHECKSUM_LENGTH = 8;
const FINGERPRINT_LENGTH = 12;
/** Cannot occur in a text of a record. */
const LONE_SURROGATE = /\p{Cs}/u;

/** A position in a list. Opaque to clients. */
export interface Cursor {
  readonly position: Position;
  /** Identifies the filters and the order that the position belongs to. */
  readonly fingerprint: string;
}

/**
 * Encodes a cursor with a checksum, which detects a cursor that was truncated, edited or issued by another list. The
 * checksum is not secret, because a position gives access to nothing.
 * @param list the name of the list
 */
export function encodeCursor(list: string, { position, fingerprint }: Cursor): string {
  return sealed(list, [position.side, position.inclusive, fingerprint, position.values]);
}

/**
 * Encodes values as JSON behind a checksum of them.
 * @param kind what the text is for: another kind has other checksums
 */
export function sealed(kind: string, values: readonly unknown[]): string {
  const json = JSON.stringify(values);
  return Buffer.from(checksum(kind, json) + json).toString('base64url');
}

/** The values in a {@link sealed} text, whose checksum is not compared. Undefined if it holds none. */
export function unsealed(text: string): readonly unknown[] | undefined {
  const values = parseJson(Buffer.from(text, 'base64url').toString('utf8').slice(CHECKSUM_LENGTH));
  return Array.isArray(values) ? values : undefined;
}

/** @returns undefined if this list did not issue the cursor */
export function decodeCursor(list: string, text: string): Cursor | undefined {
  const cursor = parseCursor(text);
  return cursor && encodeCursor(list, cursor) === text ? cursor : undefined;
}

function parseCursor(text: string): Cursor | undefined {
  const [side, inclusive, fingerprint, values] = unsealed(text) ?? [];
  if ((side !== 'after' && side !== 'before') || typeof inclusive !== 'boolean') return undefined;
  if (typeof fingerprint !== 'string' || !Array.isArray(values) || !values.every(isValue)) return undefined;
  return { position: { side, inclusive, values }, fingerprint };
}

/** The largest time in milliseconds before or after 1970 (ECMA-262 section 21.4.1.1). */
const MAX_INSTANT = 8_640_000_000_000_000;

/** Identifies filters and order. Neither the order of the filters nor the notation of the sort matters. */
export function queryFingerprint({ filters, order }: Pick<ListQuery, 'filters' | 'order'>): string {
  return filters.length === 0 && order === BY_ID ? DEFAULT_FINGERPRINT : fingerprintOf(filters, order);
}

/** That of a query that names neither filters nor order. Most queries do not. */
const DEFAULT_FINGERPRINT = fingerprintOf([], BY_ID);

function fingerprintOf(filters: readonly Filter[], order: SortOrder): string {
  return shortHash([order, filterTexts(filters)]);
}

/** Identifies filters, whatever their order and how a client wrote that a field has no value. */
export function filterTexts(filters: readonly Filter[]): string[] {
  return filters.map((filter) => JSON.stringify({ ...filter, isChoice: undefined })).sort();
}

/** Tells values apart in a cursor. */
export function shortHash(value: unknown): string {
  return sha256(JSON.stringify(value)).slice(0, FINGERPRINT_LENGTH);
}

/** Whether a position has a value of the right type for each key of the order, or null if a record may lack it. */
export function isPositionIn(order: SortOrder, fields: FieldSpecs, { values }: Position): boolean {
  return (
    values.length === order.length &&
    order.every(({ field }, at) => isValueOf(fields[field] ?? SYSTEM_FIELDS[field], values[at]))
  );
}

function isValueOf(spec: FieldSpec | undefined, value: Value | null | undefined): boolean {
  if (value === null) return spec?.required !== true;
  const type = spec?.type;
  if (type === 'text') return isTextInCursor(value);
  if (!Number.isSafeInteger(value)) return false;
  return type !== 'instant' || Math.abs(Number(value)) <= MAX_INSTANT;
}

/** Whether a value of a cursor is a text that a record may have. */
export function isTextInCursor(value: unknown): value is string {
  return typeof value === 'string' && !LONE_SURROGATE.test(value);
}

function isValue(value: unknown): value is Value | null {
  return value === null || typeof value === 'string' || typeof value === 'number';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function checksum(kind: string, text: string): string {
  return sha256(`${kind}\n${text}`).slice(0, CHECKSUM_LENGTH);
}
