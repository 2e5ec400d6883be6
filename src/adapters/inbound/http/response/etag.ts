import { createHash } from 'node:crypto';
import type { Context } from '../context.js';
import { invalidHeader } from './http-error.js';

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

/** Whether the client already has the state with this tag. A malformed header matches no tag and costs only a body. */
export function isKnown(ctx: Context, tag: string): boolean {
  const { 'if-none-match': known } = ctx.headers;
  if (known === undefined || !isReadable(known)) return false;
  const tags = tagsIn('If-None-Match', known);
  return tags === '*' || tags.some((other) => opaque(other) === opaque(tag));
}

/**
 * The entity tags in If-Match or If-None-Match (RFC 9110 section 13.1).
 * @throws HttpError `invalid_parameter` if the header is not a list of entity tags
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
  // Commas alone are an empty list.
  return value.trim() === '*' || (LIST.test(value) && value.includes('"'));
}

/** A tag without its mark of weakness. Weak comparison (RFC 9110 section 8.8.3.2) compares nothing else. */
export function opaque(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
