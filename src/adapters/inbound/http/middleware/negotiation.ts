import type { IncomingMessage } from 'node:http';
import { TextCache } from '../../../../shared/text-cache.js';
import type { Context } from '../core/context.js';
import { HttpError } from '../core/http-error.js';
import { JSON_UTF8, PROBLEM } from '../core/media-types.js';

/** More than any client needs. Bounds the time of the negotiation. */
const MAX_ACCEPT_LENGTH = 1_000;

/** Any parameter of a media range except `q` and `charset`. */
const IGNORED_PARAMETERS = /;(?!\s*(?:q|charset)\s*=)[^;,="]*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^;,"]*))?/gi;

const normalizedTexts = new TextCache<string>();

/** Shortens `Accept` in the request, and removes parameters that no response has, such as `profile`. */
function normalizedAccept({ headers }: IncomingMessage): string {
  if (!headers.accept) return '';
  headers.accept = normalizedTexts.get(headers.accept, normalized);
  return headers.accept;
}

function normalized(accept: string): string {
  const isLong = accept.length > MAX_ACCEPT_LENGTH;
  const text = isLong ? accept.slice(0, MAX_ACCEPT_LENGTH).replace(/,[^,]*$/, '') : accept;
  return text.replace(IGNORED_PARAMETERS, '');
}

/**
 * Returns a function that selects the media type that the client prefers (RFC 9110 section 12.5.1); false if it
 * accepts none. It normalizes `Accept` for what reads it later. The results are cached by its text.
 */
export function preferredType(types: readonly string[]): (ctx: Context) => string | false {
  const byAccept = new TextCache<string | false>();
  const all = [...types];
  return (ctx) => byAccept.get(normalizedAccept(ctx.req), () => ctx.accepts(all));
}

/**
 * Returns the check of the headers that negotiate a response.
 * @param types the media types of the response, in addition to JSON
 */
export function negotiation(types: readonly string[] = []): (ctx: Context) => void {
  const preferred = preferredType([JSON_UTF8, PROBLEM, ...types]);
  const known = [JSON_UTF8, ...types].map((type) => type.replace(/;.*/, '')).join(' or ');
  return (ctx) => {
    if (!preferred(ctx)) {
      throw new HttpError('not_acceptable', `Accept matches no media type of the response: ${known}.`);
    }
    const { expect } = ctx.req.headers;
    if (expect && expect.toLowerCase() !== '100-continue') {
      throw new HttpError('expectation_failed', 'The only supported expectation is 100-continue.');
    }
  };
}
