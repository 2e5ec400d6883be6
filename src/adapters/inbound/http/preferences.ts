import type { Context } from './context.js';

/** `return=minimal` among the preferences of RFC 7240; of several for one name the first counts (section 2). */
export function prefersMinimal(ctx: Context): boolean {
  const wanted = ctx
    .get('Prefer')
    .split(',')
    .map((preference) => preference.split(';', 1)[0]?.replaceAll(/[\s"]/g, '').toLowerCase())
    .find((preference) => preference?.startsWith('return='));
  if (wanted !== 'return=minimal') return false;
  ctx.set('Preference-Applied', 'return=minimal');
  return true;
}
