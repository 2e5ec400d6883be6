import { invalidHeader } from './faults.js';

/** RFC 9110 section 8.8.3: the opaque part may hold any visible character but the quotation mark. */
const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/;
const LIST = new RegExp(`^(?:\\s*${ENTITY_TAG.source}\\s*(?:,|$)|\\s*,)+$`);
const EACH = new RegExp(ENTITY_TAG, 'g');

export type Comparison = 'strong' | 'weak';

/** A record's tag is its version. */
export function entityTag(version: number): string {
  return `"${version}"`;
}

/**
 * Whether a field such as If-Match names this tag (RFC 9110 section 13.1).
 * @throws CatalogueError `invalid_parameter` where the field is no list of entity tags
 */
export function names(
  field: 'If-Match' | 'If-None-Match',
  value: string,
  tag: string,
  how: Comparison,
): boolean {
  if (value.trim() === '*') return true;
  if (!LIST.test(value)) {
    throw invalidHeader(
      field,
      'invalid_format',
      `${field} takes * or entity tags in quotation marks, such as "3".`,
    );
  }
  const tags: readonly string[] = value.match(EACH) ?? [];
  return how === 'strong' ? tags.includes(tag) : tags.some((other) => opaque(other) === opaque(tag));
}

function opaque(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
