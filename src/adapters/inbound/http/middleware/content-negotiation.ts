import type { Context, Middleware } from '../context.js';
import { HttpError } from '../response/http-error.js';
import { checkVersion } from '../versioning/requested-version.js';

/** Has the charset, because `Accept: application/json; charset=utf-8` does not match `application/json`. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** More than any client needs. Bounds the time of the negotiation. */
const MAX_ACCEPT_LENGTH = 1_000;

/** Any parameter of a media range except `q` and `charset`. */
const IGNORED_PARAMETERS = /;(?!\s*(?:q|charset)\s*=)[^;,="]*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^;,"]*))?/gi;

/** Shortens `Accept` and removes parameters that no response has, such as `profile`. */
export const normalizeAccept: Middleware = (ctx, next) => {
  const { headers } = ctx.req;
  let accept = headers.accept ?? '';
  if (accept.length > MAX_ACCEPT_LENGTH) accept = accept.slice(0, MAX_ACCEPT_LENGTH).replace(/,[^,]*$/, '');
  if (accept !== '') headers.accept = accept.replace(IGNORED_PARAMETERS, '');
  return next();
};

/**
 * Validates the headers that negotiate the response.
 * @param types the media types of the response, in addition to JSON
 * @throws HttpError `unsupported_version`, `not_acceptable`, `expectation_failed`
 */
export function negotiate(ctx: Context, types: readonly string[] = []): void {
  checkVersion(ctx);
  if (!ctx.accepts(JSON_TYPE, 'application/problem+json', ...types)) {
    const known = [JSON_TYPE, ...types].map((type) => type.replace(/;.*/, ''));
    throw new HttpError(
      'not_acceptable',
      `Accept matches no media type of the response: ${known.join(' or ')}.`,
    );
  }
  const expectation = ctx.get('Expect');
  if (expectation !== '' && expectation.toLowerCase() !== '100-continue') {
    throw new HttpError('expectation_failed', 'The only supported expectation is 100-continue.');
  }
}
