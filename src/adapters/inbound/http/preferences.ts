import type { Context } from './context.js';

/** RFC 7240 section 2: a token, perhaps with a value, that is a token or in quotation marks; parameters are skipped. */
const PREFERENCE = /(?:^|,)\s*([^\s=;,"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?|"(?:[^"\\]|\\.)*"/g;

const MAX_LENGTH = 1_024;

/** Whether `return=minimal` is preferred; of several preferences of one name the first counts (RFC 7240 section 2). */
export function prefersMinimal(ctx: Context): boolean {
  // Longer than any list of preferences; what is matched stays short.
  const first = [...ctx.get('Prefer').slice(0, MAX_LENGTH).matchAll(PREFERENCE)].find(
    ([, name]) => name?.toLowerCase() === 'return',
  );
  if ((first?.[2] ?? first?.[3])?.toLowerCase() !== 'minimal') return false;
  ctx.set('Preference-Applied', 'return=minimal');
  return true;
}
