/**
 * The values of texts that people type and spreadsheets write: cells of CSV, query parameters and fields of forms. JSON
 * has rules of its own. Amounts of money in the major unit are in `domain/money.ts`.
 */

/** A number as JSON writes it (RFC 8259 section 6): its whole part without a minus, its fraction and its exponent. */
export const JSON_NUMBER = /^-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

const INTEGER = /^-?(?:0|[1-9]\d*)$/;

/**
 * Returns the integer of an optional minus and digits without a zero before them. In `1.000`, `1,000`, `+5` and `1e3`
 * separators and exponents could mean several numbers.
 * @returns undefined for any other text; no safe integer if the digits are too many
 */
export function readInteger(text: string): number | undefined {
  return INTEGER.test(text) ? Number(text) : undefined;
}

/** @returns undefined for a text that is no {@link JSON_NUMBER}; an infinity for one beyond all doubles */
export function readNumber(text: string): number | undefined {
  return JSON_NUMBER.test(text) ? Number(text) : undefined;
}

/** Reads `true` or `false` in any case, as spreadsheets write `TRUE`. @returns undefined for any other text */
export function readBoolean(text: string): boolean | undefined {
  if (/^true$/i.test(text)) return true;
  return /^false$/i.test(text) ? false : undefined;
}

/** Returns the texts of a list in one cell, without space, tab and U+00A0 around them. An empty cell has none. */
export function readTexts(cell: string, separator: string): string[] {
  return cell === '' ? [] : cell.split(separator).map(trimmed);
}

/** By hand: an expression such as ` +$` looks at each of a million spaces once for every one before it. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && BLANKS.includes(text.charAt(start))) start++;
  while (end > start && BLANKS.includes(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

const BLANKS = ' \t\u00a0';

/** Whether a cell begins with the scheme of a URL (RFC 3986 section 3.1), as no JSON does. */
export function isUrl(cell: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(cell);
}
