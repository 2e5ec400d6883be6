/** What V8 adds to the characters of a text. */
const TEXT_BYTES = 16;
const BEYOND_LATIN_1 = /[^\x00-\xff]/;

/** What V8 takes for each byte of parsed JSON at most, measured: an object whose members have names of their own. */
const PARSED = 20;

/**
 * Returns how many bytes of memory are held by a text, or by the values that are parsed from so many bytes of JSON or
 * CSV. A limit of memory counts by this function and by nothing else: the length of a text says little about what is
 * held of it.
 */
export function heldBytes(held: string | { readonly parsedFrom: number }): number {
  if (typeof held !== 'string') return PARSED * held.parsedFrom;
  return TEXT_BYTES + (BEYOND_LATIN_1.test(held) ? 2 * held.length : held.length);
}

/** Returns the same text in memory of its own. V8 keeps a whole text for a part of it, such as a line for its cell. */
export function detached(text: string): string {
  return Buffer.from(text).toString();
}
