import type { Context } from '../context.js';

/** RFC 7240 section 2: a token with an optional value, which is a token or quoted. Parameters are skipped. */
const PREFERENCE = /(?:^|,)\s*([^\s=;,"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?|"(?:[^"\\]|\\.)*"/g;

const MAX_LENGTH = 1_024;

/** Whether the client prefers `return=minimal`. If so, the response says that it was applied. */
export function prefersMinimal(ctx: Context): boolean {
  if (preference(ctx, 'return') !== 'minimal') return false;
  notePreference(ctx, 'return=minimal');
  return true;
}

/** Whether the client prefers `count=exact`. */
export function prefersCount(ctx: Context): boolean {
  return preference(ctx, 'count') === 'exact';
}

/** Adds a preference to the ones that were applied. */
export function notePreference(ctx: Context, applied: string): void {
  const others = ctx.response.get('Preference-Applied');
  ctx.set('Preference-Applied', others ? `${others}, ${applied}` : applied);
}

/** The value of a preference, in lower case. The first of several counts (RFC 7240 section 2). */
function preference(ctx: Context, wanted: string): string | undefined {
  // Longer than any list of preferences. It bounds the time of the match.
  const first = [...ctx.get('Prefer').slice(0, MAX_LENGTH).matchAll(PREFERENCE)].find(
    ([, name]) => name?.toLowerCase() === wanted,
  );
  return (first?.[2] ?? first?.[3])?.toLowerCase();
}
