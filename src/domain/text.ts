import type { IssueCode } from './errors.js';

/** The rules of a text. Lengths are in Unicode code points, so one emoji counts as one. */
export interface TextRule {
  readonly min: 0 | 1;
  readonly max: number;
  /**
   * Every valid text matches this as a whole. The OpenAPI document publishes the expression, unless there is a
   * {@link pattern}.
   */
  readonly allowed: RegExp;
  /** The expression of the document, if {@link allowed} does not mean the same to readers in other languages. */
  readonly pattern?: RegExp;
  /** {@link allowed} in words; completes "at most 64": `of A-Z a-z 0-9 . _ -`. */
  readonly characters: string;
}

/** No control character (U+0000–001F, U+007F). */
export const ONE_LINE = /^[^\x00-\x1f\x7f]*$/u;

/** Like {@link ONE_LINE}, with tab, line feed and carriage return allowed. */
export const MANY_LINES = /^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$/u;

/** A surrogate without its pair. It represents no character, so no text may contain it. */
const LONE_SURROGATE = /\p{Cs}/u;

/** White space: `\s` and Unicode's White_Space. */
const WHITE_SPACE = String.raw`\u0009-\u000d\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff`;

/**
 * Like {@link ONE_LINE}, but not white space only. In the document white space beyond ASCII alone is allowed: languages
 * differ on what it is.
 * @param excluded further characters that a text must not have
 */
function notBlank(excluded = ''): Pick<TextRule, 'allowed' | 'pattern'> {
  const control = String.raw`\x00-\x1f\x7f${excluded}`;
  return {
    allowed: new RegExp(`^(?![${WHITE_SPACE}]*$)[^${control}]*$`, 'u'),
    pattern: new RegExp(String.raw`^[^${control}]*[^\x00-\x20\x7f${excluded}][^${control}]*$`, 'u'),
  };
}

/** The words for {@link ONE_LINE}. */
export const ONE_LINE_CHARACTERS = 'characters, no control character or lone surrogate';

export const NAME: TextRule = {
  min: 1,
  max: 200,
  ...notBlank(),
  characters: 'characters, not only white space, no control character or lone surrogate',
};

/** The rule of a tag: without the characters that separate texts in a query or a cell of CSV. */
export const TAG_RULE: TextRule = {
  min: 1,
  max: 64,
  ...notBlank(',|'),
  characters: 'characters, not only white space, no control character, comma, | or lone surrogate',
};

/**
 * An absolute http or https URL with a host and without user information (RFC 3986, sections 3 and 3.2.2), in ASCII. An
 * IPv6 address is checked by its characters alone. A slash stands in a class, because generators of clients escape it
 * again where the expression does.
 */
const HTTP_URL =
  /^[Hh][Tt][Tt][Pp][Ss]?:[/]{2}(?:\[[0-9A-Fa-f:.]+\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+)(?::[0-9]*)?(?:[/](?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?(?:\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?(?:#(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?$/;

export const URL_RULE: TextRule = {
  min: 1,
  max: 2_048,
  allowed: HTTP_URL,
  characters:
    'characters of ASCII, an absolute http or https URL without user information, such as https://example.com/lamp',
};

export const HTTPS_URL_RULE: TextRule = {
  ...URL_RULE,
  allowed: new RegExp(HTTP_URL.source.replace('[Hh][Tt][Tt][Pp][Ss]?', '[Hh][Tt][Tt][Pp][Ss]')),
  characters: 'characters of ASCII, an absolute https URL without user information, such as https://example.com/hook',
};

export function validateText(text: string, rule: TextRule): IssueCode[] {
  if (text === '') return rule.min > 0 ? ['too_short'] : [];
  const issues: IssueCode[] = [];
  if (isLongerThan(text, rule.max)) issues.push('too_long');
  if (!rule.allowed.test(text) || LONE_SURROGATE.test(text)) issues.push('invalid_format');
  return issues;
}

export function isOneLine(text: string): boolean {
  return ONE_LINE.test(text) && !LONE_SURROGATE.test(text);
}

/** A text has at most as many code points as UTF-16 units, and at least half as many. So most texts need no count. */
function isLongerThan(text: string, max: number): boolean {
  if (text.length <= max) return false;
  return text.length > 2 * max || [...text].length > max;
}

/** ASCII only: beyond it, upper and lower case depend on the language. */
export function foldCase(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Compares by Unicode code point, which is the order of UTF-8 bytes and not that of JavaScript's `<`. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const [one, other] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (one !== other) return rank(one) - rank(other);
  }
  return a.length - b.length;
}

/** Surrogates encode code points beyond U+FFFF, so they come after U+E000 to U+FFFF. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/**
 * The first text, by code point, after all texts that start with `prefix`.
 * @returns undefined if no text comes after them
 */
export function endOfPrefix(prefix: string): string | undefined {
  const points = [...prefix];
  while (points.at(-1) === '\u{10ffff}') points.pop();
  const last = points.pop()?.codePointAt(0);
  if (last === undefined) return undefined;
  // The next code point. Surrogates are no code points.
  return points.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1);
}
