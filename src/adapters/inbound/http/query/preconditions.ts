import type { IncomingHttpHeaders } from 'node:http';
import { ANY_VERSION, type Precondition } from '../../../../application/records/write-conditions.js';
import { versionRequired } from '../../../../domain/errors.js';
import { tagsIn } from '../core/etag.js';

export type ConditionHeaders = Pick<IncomingHttpHeaders, 'if-match' | 'if-none-match'>;

/**
 * The precondition in If-Match and If-None-Match (RFC 9110 sections 13.1.1 and 13.1.2).
 * @param versionOf the version of a record that an entity tag names; undefined if the tag belongs to another view
 * @throws HttpError `precondition_required`, `invalid_parameter`
 */
export function writePrecondition(
  { 'if-match': match, 'if-none-match': noneMatch }: ConditionHeaders,
  requireIfMatch: boolean,
  versionOf: (tag: string) => number | undefined,
): Precondition {
  if (match === undefined && noneMatch === undefined && !requireIfMatch) return ANY_VERSION;
  if (match === undefined && requireIfMatch) {
    throw versionRequired('If-Match');
  }
  const versions = (tags: readonly string[]) => tags.flatMap((tag) => versionOf(tag) ?? []);
  const only = match === undefined ? '*' : tagsIn('If-Match', match);
  const never = noneMatch === undefined ? [] : tagsIn('If-None-Match', noneMatch);
  return {
    ...(only !== '*' && { only: versions(only) }),
    never: never === '*' ? 'any' : versions(never),
  };
}
