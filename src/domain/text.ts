import type { FaultCode } from './errors.js';

/** What a text may be. Lengths are in Unicode code points, so that one emoji counts as one. */
export interface TextRule {
  readonly min: 0 | 1;
  readonly max: number;
  /** Every text that may be kept matches this whole. */
  readonly allowed: RegExp;
  /** Whether a text of white space alone is one. */
  readonly blank: boolean;
}

/** No control character (U+0000–001F, U+007F) and no lone surrogate (`\p{Cs}` under the `u` flag). */
export const ONE_LINE = /^[^\u0000-\u001f\u007f\p{Cs}]*$/u;

/** As {@link ONE_LINE}, but tab, line feed and carriage return may stand in it. */
export const MANY_LINES = /^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\p{Cs}]*$/u;

/** What anything that has a name may be called. */
export const NAME: TextRule = { min: 1, max: 200, allowed: ONE_LINE, blank: false };

const NOT_BLANK = /[^\s\p{White_Space}]/u;

export function textFaults(text: string, rule: TextRule): FaultCode[] {
  if (text === '') return rule.min > 0 ? ['too_short'] : [];
  const faults: FaultCode[] = [];
  if (isLongerThan(text, rule.max)) faults.push('too_long');
  if (!rule.allowed.test(text) || (!rule.blank && !NOT_BLANK.test(text))) faults.push('invalid_format');
  return faults;
}

/** A text has at most as many code points as UTF-16 units and at least half as many, so most need no count. */
function isLongerThan(text: string, max: number): boolean {
  if (text.length <= max) return false;
  return text.length > 2 * max || [...text].length > max;
}
