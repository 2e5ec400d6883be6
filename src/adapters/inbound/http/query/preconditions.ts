import type { IncomingHttpHeaders } from 'node:http';
import type { VersionCondition } from '../../../../application/record-use-cases.js';
import { names } from '../response/etag.js';
import { HttpError } from '../response/http-error.js';

export type ConditionHeaders = Pick<IncomingHttpHeaders, 'if-match' | 'if-none-match'>;

/**
 * The condition of If-Match and If-None-Match on the version that a write replaces.
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
    (match === undefined || names('If-Match', match, tagOf(version), 'strong')) &&
    (noneMatch === undefined || !names('If-None-Match', noneMatch, tagOf(version), 'weak'));
}
