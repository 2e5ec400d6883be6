import type { IncomingHttpHeaders } from 'node:http';
import type { VersionCondition } from '../../../../application/record-use-cases.js';
import { opaque, tagsIn } from '../response/etag.js';
import { HttpError } from '../response/http-error.js';

export type ConditionHeaders = Pick<IncomingHttpHeaders, 'if-match' | 'if-none-match'>;

/**
 * The condition of If-Match and If-None-Match on the version that a write replaces (RFC 9110 sections 13.1.1 and 13.1.2).
 * If-Match compares tags strongly, If-None-Match weakly.
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
  return (version) => {
    const tag = tagOf(version);
    const only = match === undefined ? '*' : tagsIn('If-Match', match);
    if (only !== '*' && !only.includes(tag)) return false;
    const never = noneMatch === undefined ? [] : tagsIn('If-None-Match', noneMatch);
    return never !== '*' && !never.some((other) => opaque(other) === opaque(tag));
  };
}
