import type { IssueCode, LocatedIssue } from './errors.js';
import { ONE_LINE, ONE_LINE_CHARACTERS, type TextRule, validateText } from './text.js';

export type AttributeValue = string | number | boolean;

/** Values under keys that the client chooses. Keys are data: `.`, `$` and `:` have no meaning in them. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

export const ATTRIBUTES = {
  maxKeys: 50,
  key: { min: 1, max: 64, allowed: ONE_LINE, characters: ONE_LINE_CHARACTERS } satisfies TextRule,
  text: { min: 0, max: 500, allowed: ONE_LINE, characters: ONE_LINE_CHARACTERS } satisfies TextRule,
} as const;

/** No valid object has as many keys. The bound limits the work for an invalid one. */
const MAX_VALIDATED = 1_000;

/** Every issue of attributes. Values may be of any type. */
export function validateAttributes(attributes: Readonly<Record<string, unknown>>): LocatedIssue[] {
  const keys = Object.keys(attributes);
  const issues: LocatedIssue[] = [];
  if (keys.length > ATTRIBUTES.maxKeys) issues.push({ code: 'too_long', path: [] });
  for (const key of keys.slice(0, MAX_VALIDATED)) {
    for (const code of validateText(key, ATTRIBUTES.key)) issues.push({ code, path: [key], ofKey: true });
    for (const code of validateValue(attributes[key])) issues.push({ code, path: [key] });
  }
  return issues;
}

function validateValue(value: unknown): IssueCode[] {
  if (typeof value === 'string') return validateText(value, ATTRIBUTES.text);
  if (typeof value === 'boolean') return [];
  if (typeof value !== 'number') return ['invalid_type'];
  return isStoredExactly(value) ? [] : ['out_of_range'];
}

/** From 2^53 on, a double represents several integers, so a client could read another number than it sent. */
export function isStoredExactly(value: number): boolean {
  return Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}
