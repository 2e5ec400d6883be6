import { isJsonObject } from './merge-patch.js';

/** The steps of a JSON Pointer (RFC 6901), unescaped. Empty for the whole document. */
export type Steps = readonly string[];

const INDEX = /^(?:0|[1-9][0-9]*)$/;

/** A body has at most 20 levels, so a longer pointer leads nowhere. */
export const MAX_STEPS = 100;

const SLASH = '/'.charCodeAt(0);
const TILDE = '~'.charCodeAt(0);

/** `~` and `/` are the only escaped characters, so the name cannot hide behind an escape. */
const PROTO_STEP = /\/__proto__(?:\/|$)/;

/** Whether `__proto__` is a step. No body may have it as a name, so the pointer leads to no value. */
export function hasProtoStep(text: string): boolean {
  return PROTO_STEP.test(text);
}

/**
 * Returns the issue of a pointer, without making its steps.
 * @returns `too_long` for more than 100 steps, `invalid_format` for a text that is no pointer; undefined if it is valid
 */
export function pointerIssue(text: string): 'invalid_format' | 'too_long' | undefined {
  if (text === '') return undefined;
  if (!text.startsWith('/')) return 'invalid_format';
  let steps = 0;
  let hasInvalidEscape = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === SLASH && ++steps > MAX_STEPS) return 'too_long';
    if (code === TILDE && text[i + 1] !== '0' && text[i + 1] !== '1') hasInvalidEscape = true;
  }
  return hasInvalidEscape ? 'invalid_format' : undefined;
}

/** Returns the steps of a valid pointer. */
export function pointerSteps(text: string): Steps {
  return text.split('/').slice(1).map(unescaped);
}

/** The value at a pointer; undefined, which is no JSON value, if there is none. */
export function valueAt(document: unknown, steps: Steps): unknown {
  let value = document;
  for (const step of steps) {
    value = child(value, step);
    if (value === undefined) return undefined;
  }
  return value;
}

/** The array index of a step (RFC 6901 section 4: no sign, no leading zero); undefined if the step is no index. */
export function indexOf(step: string): number | undefined {
  return INDEX.test(step) ? Number(step) : undefined;
}

/** Own members only: members that every JavaScript object inherits are no data. */
function child(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return value[indexOf(step) ?? -1];
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

/**
 * In this order, so that `~01` becomes `~1` (RFC 6901 section 4). For many escapes, `split` and `join` take a third of the
 * time of `replaceAll`.
 */
function unescaped(step: string): string {
  return step.includes('~') ? step.split('~1').join('/').split('~0').join('~') : step;
}
