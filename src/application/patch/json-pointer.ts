import { isJsonObject } from './merge-patch.js';

/** The steps of a JSON Pointer (RFC 6901), unescaped. Empty for the whole document. */
export type Steps = readonly string[];

const INDEX = /^(?:0|[1-9][0-9]*)$/;

/** A body has at most 20 levels, so a longer pointer leads nowhere. */
const MAX_STEPS = 100;

/**
 * Parses a pointer. `__proto__` is not accepted as a step, because no body may have it as a name.
 * @returns the steps; `invalid_format` if the text is no pointer, `too_long` if it has more than 100 steps
 */
export function pointerSteps(text: string): Steps | 'invalid_format' | 'too_long' {
  if (text === '') return [];
  if (!text.startsWith('/')) return 'invalid_format';
  const steps = text.split('/', MAX_STEPS + 2).slice(1);
  if (steps.length > MAX_STEPS) return 'too_long';
  if (!text.includes('~')) return steps.includes('__proto__') ? 'invalid_format' : steps;
  if (/~(?![01])/.test(text)) return 'invalid_format';
  const names = steps.map(unescaped);
  return names.includes('__proto__') ? 'invalid_format' : names;
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

/** In this order, so that `~01` becomes `~1` (RFC 6901 section 4). */
function unescaped(step: string): string {
  return step.includes('~') ? step.replaceAll('~1', '/').replaceAll('~0', '~') : step;
}
