import type { Context } from '../context.js';

/** RFC 7240 section 2: a token, perhaps with a value, that is a token or in quotation marks; parameters are skipped. */
const PREFERENCE = /(?:^|,)\s*([^\s=;,"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?|"(?:[^"\\]|\\.)*"/g;

const MAX_LENGTH = 1_024;

/** Whether `return=minimal` is preferred; then it is applied. */
export function prefersMinimal(ctx: Context): boolean {
  if (preference(ctx, 'return') !== 'minimal') return false;
  notePreference(ctx, 'return=minimal');
  return true;
}

/** Whether `count=exact` is preferred. */
export function prefersCount(ctx: Context): boolean {
  return preference(ctx, 'count') === 'exact';
}

/** Tells that a preference was applied, beside others that were. */
export function notePreference(ctx: Context, applied: string): void {
  const others = ctx.response.get('Preference-Applied');
  ctx.set('Preference-Applied', others ? `${others}, ${applied}` : applied);
}

/** The value of a preference, in lower case; of several of one name the first counts (RFC 7240 section 2). */
function preference(ctx: Context, wanted: string): string | undefined {
  // Longer than any list of preferences; what is matched stays short.
  const first = [...ctx.get('Prefer').slice(0, MAX_LENGTH).matchAll(PREFERENCE)].find(
    ([, name]) => name?.toLowerCase() === wanted,
  );
  return (first?.[2] ?? first?.[3])?.toLowerCase();
}
