import type { IncomingHttpHeaders } from 'node:http';
import {
  ANY_VERSION,
  type IdempotentRequest,
  idempotentRequest,
  type Precondition,
  reservationKey,
} from '../../../../application/records/write-conditions.js';
import { versionRequired } from '../../../../domain/errors.js';
import type { Context } from '../core/context.js';
import { tagsIn } from '../core/etag.js';
import { HttpError, parameterIssue } from '../core/http-error.js';

const IDEMPOTENCY_KEY = 'Idempotency-Key';
const KEY_HEADER = 'idempotency-key';
export const MAX_KEY_LENGTH = 255;
const PRINTABLE = new RegExp(`^[\\x20-\\x7e]{1,${MAX_KEY_LENGTH}}$`);
/**
 * The pattern for clients. Unlike {@link PRINTABLE}, it has no spaces at the ends, which HTTP strips (RFC 9110 section
 * 5.5).
 */
export const KEY_PATTERN = '^[!-~]([ -~]*[!-~])?$';

/**
 * Reads the idempotency key into the state of the request.
 * @throws HttpError `invalid_idempotency_key`, also if the header is repeated
 */
export function readIdempotencyKey(ctx: Context): void {
  if (ctx.headers[KEY_HEADER] === undefined) return;
  const [key = '', second] = ctx.req.headersDistinct[KEY_HEADER] ?? [];
  if (second === undefined && PRINTABLE.test(key)) {
    ctx.state.idempotencyKey = key;
    return;
  }
  // Two programs could read such a message differently, so the connection is closed.
  if (second !== undefined) ctx.set('Connection', 'close');
  const message = `${IDEMPOTENCY_KEY} must be 1 to ${MAX_KEY_LENGTH} printable ASCII characters, once.`;
  throw new HttpError('invalid_idempotency_key', message, [
    parameterIssue('header', IDEMPOTENCY_KEY, 'invalid_format', message),
  ]);
}

/** Identifies a request that creates one record; undefined without a key. */
export function idempotencyOf(ctx: Context, body: unknown): IdempotentRequest | undefined {
  const key = requestKey(ctx);
  return key === undefined ? undefined : idempotentRequest({ key, body, storesFields: true });
}

/** The key under which the request is reserved; undefined without an `Idempotency-Key`. */
export function requestKey(ctx: Context): string | undefined {
  const { principal, idempotencyKey: key } = ctx.state;
  if (key === undefined) return undefined;
  if (!principal) throw new Error('An idempotency key needs an authenticated principal.');
  return reservationKey(principal.id, key);
}

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
  if (match === undefined && requireIfMatch) throw versionRequired('If-Match');
  if (match === undefined && noneMatch === undefined) return ANY_VERSION;
  const versions = (tags: readonly string[]) => tags.flatMap((tag) => versionOf(tag) ?? []);
  const only = match === undefined ? '*' : tagsIn('If-Match', match);
  const never = noneMatch === undefined ? [] : tagsIn('If-None-Match', noneMatch);
  return {
    ...(only !== '*' && { only: versions(only) }),
    never: never === '*' ? 'any' : versions(never),
  };
}

/**
 * A preference (RFC 7240 section 2): a token with an optional value, which is a token or quoted. Ignores parameters.
 */
const PREFERENCE = /(?:^|,)\s*([^\s=;,"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?|"(?:[^"\\]|\\.)*"/g;

/** Long enough for any list of preferences. Bounds the time of the match. */
const MAX_PREFER_LENGTH = 1_024;

const MAX_WAIT_SECONDS = 30;

/** Whether the client prefers `return=minimal`. If so, adds it to `Preference-Applied`. */
export function prefersMinimal(ctx: Context): boolean {
  if (preference(ctx, 'return') !== 'minimal') return false;
  addAppliedPreference(ctx, 'return=minimal');
  return true;
}

/** Whether the client prefers `count=exact`. */
export function prefersCount(ctx: Context): boolean {
  return preference(ctx, 'count') === 'exact';
}

/**
 * The seconds that the client prefers to wait (RFC 7240 section 4.3), at most 30. Undefined if it does not say, or says
 * it in another form than digits.
 */
export function preferredWaitSeconds(ctx: Context): number | undefined {
  const value = preference(ctx, 'wait');
  if (value === undefined || !/^\d+$/.test(value)) return undefined;
  return Math.min(Number(value), MAX_WAIT_SECONDS);
}

export function addAppliedPreference(ctx: Context, applied: string): void {
  const others = ctx.response.get('Preference-Applied');
  ctx.set('Preference-Applied', others ? `${others}, ${applied}` : applied);
}

/** The value of a preference, in lower case. The first of several counts (RFC 7240 section 2). */
function preference(ctx: Context, wanted: string): string | undefined {
  if (ctx.req.headers['prefer'] === undefined) return undefined;
  const first = [...ctx.get('Prefer').slice(0, MAX_PREFER_LENGTH).matchAll(PREFERENCE)].find(
    ([, name]) => name?.toLowerCase() === wanted,
  );
  return (first?.[2] ?? first?.[3])?.toLowerCase();
}
