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
