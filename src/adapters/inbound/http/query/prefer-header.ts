import type { Context } from '../core/context.js';

/**
 * A preference (RFC 7240 section 2): a token with an optional value, which is a token or quoted. Ignores parameters.
 */
const PREFERENCE = /(?:^|,)\s*([^\s=;,"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?|"(?:[^"\\]|\\.)*"/g;

const MAX_LENGTH = 1_024;

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

const MAX_WAIT_SECONDS = 30;

/**
 * The seconds that the client prefers to wait (RFC 7240 section 4.3), at most 30. Undefined if it does not say, or says
 * it in another form than digits.
 */
export function preferredWaitSeconds(ctx: Context): number | undefined {
  const value = preference(ctx, 'wait');
  if (value === undefined || !/^\d+$/.test(value)) return undefined;
  return Math.min(Number(value), MAX_WAIT_SECONDS);
}

/** Adds a preference to `Preference-Applied`. */
export function addAppliedPreference(ctx: Context, applied: string): void {
  const others = ctx.response.get('Preference-Applied');
  ctx.set('Preference-Applied', others ? `${others}, ${applied}` : applied);
}

/** The value of a preference, in lower case. The first of several counts (RFC 7240 section 2). */
function preference(ctx: Context, wanted: string): string | undefined {
  if (ctx.req.headers['prefer'] === undefined) return undefined;
  // Long enough for any list of preferences. Bounds the time of the match.
  const first = [...ctx.get('Prefer').slice(0, MAX_LENGTH).matchAll(PREFERENCE)].find(
    ([, name]) => name?.toLowerCase() === wanted,
  );
  return (first?.[2] ?? first?.[3])?.toLowerCase();
}
