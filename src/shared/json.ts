/**
 * JSON, and the values of texts that people type and spreadsheets write: cells of CSV, query parameters and fields of
 * forms. Amounts of money in the major unit are in `domain/money.ts`.
 */

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The line ends of Unicode (UAX #14) that JSON allows in strings as they are (RFC 8259 section 7). JSON.stringify
 * escapes the others, which are control characters.
 */
const LINE_ENDS = /[\u0085\u2028\u2029]/g;

/**
 * Returns the same JSON with no line end that a reader of lines could take for one, as `splitlines` of Python and
 * `readline` of Node 24 do.
 */
export function withoutLineEnds(json: string): string {
  return json.replace(LINE_ENDS, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns a line of newline-delimited JSON. Responses in lines of JSON are written by this function. */
export function jsonLine(json: string): string {
  return `${withoutLineEnds(json)}\n`;
}

/** Returns JSON with the members of every object in one order, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, sorted);
}

function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether a JSON document has more than `count` values, objects and arrays included. Stops counting there. */
export function hasMoreValues(document: unknown, count: number): boolean {
  let left = count;
  const look = (part: unknown): boolean => {
    if (--left < 0) return true;
    return typeof part === 'object' && part !== null && Object.values(part).some(look);
  };
  return look(document);
}

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
