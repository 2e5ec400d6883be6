import {
  BY_ID,
  type Filter,
  type Position,
  type SortOrder,
  type Value,
} from '../../../../application/ports/list-query.js';
import type { PageQuery } from '../../../../application/records/record-service.js';
import { type FieldSpec, type FieldSpecs, SYSTEM_FIELDS } from '../../../../domain/fields.js';
import type { ParameterIssue } from '../core/error-codes.js';
import { sha256 } from '../core/etag.js';
import { type HttpError, invalidParameters } from '../core/http-error.js';
import type { Parameter } from '../core/parameter.js';
import { invalid } from '../parameters/query.js';

const CHECKSUM_LENGTH = 8;
const FINGERPRINT_LENGTH = 12;
/** Cannot occur in a text of a record. */
const LONE_SURROGATE = /\p{Cs}/u;

/**
 * Encodes the values of a cursor as JSON behind a checksum, which detects a cursor that was truncated, edited or issued
 * for something else. The checksum is not secret, because a cursor gives access to nothing.
 * @param kind what the cursor is for: another kind has other checksums
 */
export function sealed(kind: string, values: readonly unknown[]): string {
  const json = JSON.stringify(values);
  const checksum = sha256(`${kind}\n${json}`).slice(0, CHECKSUM_LENGTH);
  return Buffer.from(checksum + json).toString('base64url');
}

/**
 * The values in a cursor of this kind.
 * @returns undefined if {@link sealed} did not make the text from this number of values
 */
export function unsealed(kind: string, count: number, text: string): readonly unknown[] | undefined {
  const values = parseJson(Buffer.from(text, 'base64url').toString('utf8').slice(CHECKSUM_LENGTH));
  const isWhole = Array.isArray(values) && values.length === count;
  return isWhole && sealed(kind, values) === text ? values : undefined;
}

/** A position in a list. Opaque to clients. */
export interface Cursor {
  readonly position: Position;
  /** Identifies the filters and the order that the position belongs to. */
  readonly fingerprint: string;
}

/** @param list the name of the list */
export function encodeCursor(list: string, { position, fingerprint }: Cursor): string {
  return sealed(list, [position.side, position.inclusive, fingerprint, position.values]);
}

/** @returns undefined if this list did not issue the cursor */
export function decodeCursor(list: string, text: string): Cursor | undefined {
  const [side, inclusive, fingerprint, values] = unsealed(list, 4, text) ?? [];
  if ((side !== 'after' && side !== 'before') || typeof inclusive !== 'boolean') return undefined;
  if (typeof fingerprint !== 'string' || !Array.isArray(values) || !values.every(isValue)) return undefined;
  return { position: { side, inclusive, values }, fingerprint };
}

/**
 * The parameter `cursor`.
 * @param isIssued whether the operation issued a cursor
 */
export function cursorParameter(description: string, isIssued: (text: string) => boolean): Parameter {
  return {
    name: 'cursor',
    code: 'invalid_cursor',
    issues: (text) => (isIssued(text) ? [] : [FOREIGN]),
    docs: {
      description,
      schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+$' },
      example: 'eyJhZnRlciI6MTAwfQ',
    },
  };
}

const FOREIGN: ParameterIssue = invalid('cursor', 'invalid_format', 'was not issued by this list');

export function foreignCursor(): HttpError {
  return invalidParameters([['invalid_cursor', FOREIGN]]);
}

/** @param owner what the cursor belongs to instead */
export function cursorMismatch(owner: string): HttpError {
  return invalidParameters([['cursor_mismatch', invalid('cursor', 'invalid_format', `belongs to ${owner}`)]]);
}

/**
 * Identifies filters, order and what records share. Neither the order of the filters nor the notation of the sort
 * matters.
 */
export function queryFingerprint({
  filters,
  order,
  distinct,
}: Pick<PageQuery, 'filters' | 'order' | 'distinct'>): string {
  const isDefault = filters.length === 0 && order === BY_ID && distinct === undefined;
  return isDefault ? DEFAULT_FINGERPRINT : fingerprintOf(filters, order, distinct);
}

/** That of a query that names none of them. Most queries do not. */
const DEFAULT_FINGERPRINT = fingerprintOf([], BY_ID);

function fingerprintOf(filters: readonly Filter[], order: SortOrder, distinct?: string): string {
  return shortHash([order, filterTexts(filters), ...(distinct === undefined ? [] : [distinct])]);
}

/** Identifies filters, whatever their order and how a client wrote that a field has no value. */
export function filterTexts(filters: readonly Filter[]): string[] {
  return filters.map((filter) => JSON.stringify({ ...filter, isChoice: undefined })).sort();
}

/** Tells values apart in a cursor. */
export function shortHash(value: unknown): string {
  return sha256(JSON.stringify(value)).slice(0, FINGERPRINT_LENGTH);
}

/** The largest time in milliseconds before or after 1970 (ECMA-262 section 21.4.1.1). */
const MAX_INSTANT = 8_640_000_000_000_000;

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
