import { createHash } from 'node:crypto';
import type { Context } from './context.js';
import { invalidHeader } from './faults.js';

/** RFC 9110 section 8.8.3: the opaque part may hold any visible character but the quotation mark. */
const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/;
const LIST = new RegExp(`^(?:\\s*${ENTITY_TAG.source}\\s*(?:,|$)|\\s*,)+$`);
/** What clients shall send (RFC 9110 section 5.6.1.1); empty elements are read as well, but no sender makes any. */
export const TAG_LIST_PATTERN = `^(?:\\*|${ENTITY_TAG.source}(?:[\\t ]*,[\\t ]*${ENTITY_TAG.source})*)$`;
const EACH = new RegExp(ENTITY_TAG, 'g');

/** A record's tag is its version; a view that shows other fields than the usual ones has a tag of its own. */
export function entityTag(version: number | string, view?: string): string {
  return view === undefined ? `"${version}"` : `"${version}:${view}"`;
}

/** Alike wherever an answer is made of the same parts. */
export function weakTag(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\n');
  return `W/"${hash.digest('base64url')}"`;
}

/** Whether the client has what this tag stands for already. What cannot be read names no tag: a cache's slip costs a body. */
export function isKnown(ctx: Context, tag: string): boolean {
  const { 'if-none-match': known } = ctx.headers;
  if (known === undefined || !isReadable(known)) return false;
  const tags = tagsIn('If-None-Match', known);
  return tags === '*' || tags.some((other) => opaque(other) === opaque(tag));
}

/**
 * The entity tags in a field such as If-Match (RFC 9110 section 13.1).
 * @throws CatalogueError `invalid_parameter` if the field is no list of entity tags
 */
export function tagsIn(field: 'If-Match' | 'If-None-Match', value: string): '*' | readonly string[] {
  if (value.trim() === '*') return '*';
  if (!isReadable(value)) {
    throw invalidHeader(
      field,
      'invalid_format',
      `${field} takes * or entity tags in quotation marks, such as "3".`,
    );
  }
  return value.match(EACH) ?? [];
}

function isReadable(value: string): boolean {
  // Commas alone are a list of nothing.
  return value.trim() === '*' || (LIST.test(value) && value.includes('"'));
}

/** A tag without its mark of weakness. Weak comparison (RFC 9110 section 8.8.3.2) compares nothing else. */
export function opaque(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
