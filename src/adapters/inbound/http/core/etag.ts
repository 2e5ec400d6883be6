import { hash } from 'node:crypto';
import type { Context } from './context.js';
import { invalidHeader } from './http-error.js';
import { JSON_TYPE } from './media-types.js';

/**
 * An entity tag (RFC 9110 section 8.8.3): visible characters except the quotation mark, in quotation marks. Those are
 * written as `\x22`, because generators copy patterns into string literals.
 */
const ENTITY_TAG = '(?:W/)?\\x22[^\\x00-\\x20\\x22\\x7f]*\\x22';
const TAG_LIST = new RegExp(`^(?:\\s*${ENTITY_TAG}\\s*(?:,|$)|\\s*,)+$`);
/** The pattern for clients (RFC 9110 section 5.6.1.1). The service also accepts empty elements. */
export const TAG_LIST_PATTERN = `^(?:\\*|${ENTITY_TAG}(?:[\\t ]*,[\\t ]*${ENTITY_TAG})*)$`;
const EACH_TAG = new RegExp(ENTITY_TAG, 'g');

/** The weak tag of a response: a hash of its body, and of the headers that differ with it. */
export function weakTag(body: string | Buffer, ...headers: readonly string[]): string {
  return `W/"${sha256([sha256(body), ...headers].join('\n'))}"`;
}

/** The hash of a text or of bytes, in base64url. */
export function sha256(data: string | Buffer): string {
  return hash('sha256', data, 'base64url');
}

/** Whether `If-None-Match` contains the tag. A malformed header matches no tag, which costs only a body. */
export function matchesIfNoneMatch(ctx: Context, tag: string): boolean {
  const { 'if-none-match': header } = ctx.headers;
  if (header === tag) return true;
  if (header === undefined || !isTagList(header)) return false;
  const tags = tagsIn('If-None-Match', header);
  return tags === '*' || tags.includes(asSent(tag));
}

/** Responds with JSON and its tag, or without it if the client has it already (RFC 9110 section 15.4.5). */
export function respondTagged(ctx: Context, tag: string, json: () => string | Buffer): void {
  ctx.set('ETag', tag);
  if (matchesIfNoneMatch(ctx, tag)) {
    ctx.status = 304;
    return;
  }
  ctx.set('Content-Type', JSON_TYPE);
  ctx.body = json();
}

/**
 * The entity tags in If-Match or If-None-Match (RFC 9110 section 13.1), each {@link asSent}.
 * @throws HttpError `invalid_parameter` if the header is not a list of entity tags
 */
export function tagsIn(field: 'If-Match' | 'If-None-Match', value: string): '*' | readonly string[] {
  if (value.trim() === '*') return '*';
  if (!isTagList(value)) {
    throw invalidHeader(field, 'invalid_format', `${field} takes * or entity tags in quotation marks, such as "3".`);
  }
  return value.match(EACH_TAG)?.map(asSent) ?? [];
}

function isTagList(value: string): boolean {
  // Commas alone are an empty list.
  return value.trim() === '*' || (TAG_LIST.test(value) && value.includes('"'));
}

/**
 * No tag of the service ends in a coding: not a version, not the 10 hexadecimal digits of a generation, not a list of
 * fields, and not 43 digits of base64url.
 */
const ALTERED = /^(?:W\/)?("[^"]*?)(?:(?:--?|;)(?:gzip|br|deflate|zstd))?"$/;

/**
 * The tag without `W/`, and without the coding that a proxy has added to it. A proxy that compresses a response must
 * change its strong tag (RFC 9110 section 8.8.3.3): nginx and Cloudflare put `W/` before it (section 8.8.3), Apache and
 * Jetty write `"3-gzip"`, `"3;br"` or `"3--gzip"`. A tag names a version of a record and no bytes, so the strong
 * comparison of If-Match (section 8.8.3.2) would only refuse what the client has seen.
 */
function asSent(tag: string): string {
  return tag.replace(ALTERED, '$1"');
}
