/**
 * The entries of attributes, which an array column has and its index finds. The index would refuse very long ones, so it
 * has their SHA-256, which has no space.
 *
 * - `["key",value]`: the attribute, as JSON, so that a number and a text that looks like it differ
 * - ` key`: there is one of this key
 * - `8c key`: it is a number whose place begins so
 *
 * A place has four hexadecimal digits, and a higher number has no lower place: a sign, 128 powers of two, and 256 equal
 * parts of each. So a few beginnings cover any range.
 */
import { createHash } from 'node:crypto';
import type { Attributes, AttributeValue } from '../../../domain/fields.js';

/** The most characters of an entry that the index has literally. */
const MAX_LENGTH = 100;

const DIGITS = 4;
const LOWEST = 0;
const HIGHEST = 0xff_ff;
/** The place of 0. All numbers between the lowest power of two and its negative are here or one place below. */
const MIDDLE = 0x80_00;
/** The lowest power of two that has places of its own, as a double has it. No attribute reaches 2^64. */
const LOWEST_EXPONENT = 1_023 - 64;

function entry(text: string): string {
  return text.length > MAX_LENGTH ? createHash('sha256').update(text).digest('base64') : text;
}

export function valueEntry(key: string, value: AttributeValue): string {
  return entry(JSON.stringify([key, value]));
}

export function keyEntry(key: string): string {
  return entry(` ${key}`);
}

function placeEntry(key: string, place: number, digits: number): string {
  return entry(`${place.toString(16).padStart(DIGITS, '0').slice(0, digits)} ${key}`);
}

/** The entries of a number from `low` to `high`, and of some next to them. */
export function rangeEntries(key: string, low: number, high: number): string[] {
  const first = low === Number.NEGATIVE_INFINITY ? LOWEST : placeOf(low);
  const last = high === Number.POSITIVE_INFINITY ? HIGHEST : placeOf(high);
  const entries: string[] = [];
  for (let at = first, width = 1; at <= last; at += width) {
    let digits = DIGITS;
    for (width = 1; digits > 1 && at % (16 * width) === 0 && at + 16 * width - 1 <= last; width *= 16) digits--;
    entries.push(placeEntry(key, at, digits));
  }
  return entries;
}

export function entriesOf(attributes: Attributes): string[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    const entries = [valueEntry(key, value), keyEntry(key)];
    if (typeof value === 'number') {
      const place = placeOf(value);
      for (let digits = 1; digits <= DIGITS; digits++) entries.push(placeEntry(key, place, digits));
    }
    return entries;
  });
}

const double = new DataView(new ArrayBuffer(8));

/** The place of a number: of its exponent and the first eight bits behind it. */
function placeOf(number: number): number {
  double.setFloat64(0, Math.abs(number));
  const size = (double.getUint32(0) >>> 12) - LOWEST_EXPONENT * 256;
  const distance = Math.max(0, Math.min(MIDDLE - 1, size));
  return number < 0 ? MIDDLE - 1 - distance : MIDDLE + distance;
}
