import type { IncomingHttpHeaders } from 'node:http';
import type { VersionCondition } from '../../../../application/record-use-cases.js';
import type { Context } from '../context.js';
import { parseTags } from '../response/etag.js';
import { HttpError, invalidHeader } from '../response/http-error.js';

export type ConditionHeaders = Pick<IncomingHttpHeaders, 'if-match' | 'if-none-match'>;

/** Whether the client already has the state with this tag. A malformed header matches no tag and costs only a body. */
export function isKnown(ctx: Context, tag: string): boolean {
  const known = parseTags(ctx.headers['if-none-match'] ?? '');
  return known !== undefined && matchesWeakly(known, tag);
}

/**
 * The condition of If-Match and If-None-Match on the version that a write replaces (RFC 9110 section 13.1). If-Match
 * compares tags strongly, If-None-Match weakly.
 * @param tagOf the entity tag of a version
 * @throws HttpError `precondition_required`; the returned condition throws `invalid_parameter`
 */
export function writeCondition(
  { 'if-match': match, 'if-none-match': noneMatch }: ConditionHeaders,
  requireIfMatch: boolean,
  tagOf: (version: number) => string,
): VersionCondition {
  if (match === undefined && requireIfMatch) {
    throw new HttpError('precondition_required', 'Say in If-Match which version you have seen.');
  }
  return (version) =>
    (match === undefined || matchesStrongly(tagsIn('If-Match', match), tagOf(version))) &&
    (noneMatch === undefined || !matchesWeakly(tagsIn('If-None-Match', noneMatch), tagOf(version)));
}

type Tags = '*' | readonly string[];

function tagsIn(field: 'If-Match' | 'If-None-Match', value: string): Tags {
  const tags = parseTags(value);
  if (tags !== undefined) return tags;
  throw invalidHeader(
    field,
    'invalid_format',
    `${field} takes * or entity tags in quotation marks, such as "3".`,
  );
}

function matchesStrongly(tags: Tags, tag: string): boolean {
  return tags === '*' || tags.includes(tag);
}

function matchesWeakly(tags: Tags, tag: string): boolean {
  return tags === '*' || tags.some((other) => opaque(other) === opaque(tag));
}

function opaque(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
