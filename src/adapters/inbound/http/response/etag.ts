import { createHash } from 'node:crypto';

/** RFC 9110 section 8.8.3: the opaque part consists of visible characters except the quotation mark. */
const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/;
const LIST = new RegExp(`^(?:\\s*${ENTITY_TAG.source}\\s*(?:,|$)|\\s*,)+$`);
/** For clients (RFC 9110 section 5.6.1.1). Empty elements are accepted as well, but no sender generates any. */
export const TAG_LIST_PATTERN = `^(?:\\*|${ENTITY_TAG.source}(?:[\\t ]*,[\\t ]*${ENTITY_TAG.source})*)$`;
const EACH = new RegExp(ENTITY_TAG, 'g');

/** The tag of a record is its version. A view with other fields than the default has its own tag. */
export function entityTag(version: number | string, view?: string): string {
  return view === undefined ? `"${version}"` : `"${version}:${view}"`;
}

/** The same for every response that consists of the same parts. */
export function weakTag(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\n');
  return `W/"${hash.digest('base64url')}"`;
}

/** The tags in If-Match or If-None-Match. @returns undefined if the value is neither `*` nor a list of entity tags */
export function parseTags(value: string): '*' | readonly string[] | undefined {
  if (value.trim() === '*') return '*';
  // Commas alone are an empty list.
  return LIST.test(value) && value.includes('"') ? (value.match(EACH) ?? []) : undefined;
}
