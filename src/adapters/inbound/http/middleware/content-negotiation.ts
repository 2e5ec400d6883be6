import type { Context, Middleware } from '../context.js';
import { HttpError } from '../response/http-error.js';
import { checkVersion } from '../versioning/requested-version.js';

/** Whoever asks for this charset gets it; offered without it, `Accept: application/json; charset=utf-8` would fit nothing. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** Far more than any client needs; what is behind is not worth the time to weigh it. */
const MAX_ACCEPT_LENGTH = 1_000;

/** Any parameter of a media range but those that tell two forms of this service apart. */
const UNHEEDED = /;(?!\s*(?:q|charset)\s*=)[^;,="]*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^;,"]*))?/gi;

/** Leaves of Accept what is judged: its first ranges, without parameters such as `profile` that no answer has. */
export const normalizeAccept: Middleware = (ctx, next) => {
  const { headers } = ctx.req;
  let accept = headers.accept ?? '';
  if (accept.length > MAX_ACCEPT_LENGTH) accept = accept.slice(0, MAX_ACCEPT_LENGTH).replace(/,[^,]*$/, '');
  if (accept !== '') headers.accept = accept.replace(UNHEEDED, '');
  return next();
};

/**
 * Judges what the headers ask for before anything is done.
 * @param types what the answer can be beside JSON
 * @throws CatalogueError `unsupported_version`, `not_acceptable`, `expectation_failed`
 */
export function negotiate(ctx: Context, types: readonly string[] = []): void {
  checkVersion(ctx);
  if (!ctx.accepts(JSON_TYPE, 'application/problem+json', ...types)) {
    const known = [JSON_TYPE, ...types].map((type) => type.replace(/;.*/, ''));
    throw new HttpError(
      'not_acceptable',
      `Answers come as ${known.join(' or ')}; Accept fits nothing of that.`,
    );
  }
  const expectation = ctx.get('Expect');
  if (expectation !== '' && expectation.toLowerCase() !== '100-continue') {
    throw new HttpError('expectation_failed', 'The one expectation that is met is 100-continue.');
  }
}
