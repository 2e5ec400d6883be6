import { isJsonObject } from './merge-patch.js';

/** What a JSON Pointer (RFC 6901) goes through, unescaped; none for the whole document. */
export type Steps = readonly string[];

const ESCAPES = { '~0': '~', '~1': '/' } as const;
const INDEX = /^(?:0|[1-9][0-9]*)$/;

/**
 * The steps of a pointer. `__proto__` is no step, as it is no name in a body.
 * @returns undefined where the text is no pointer
 */
export function pointerSteps(text: string): Steps | undefined {
  if (text === '') return [];
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined;
  const steps = text.slice(1).split('/').map(unescaped);
  return steps.includes('__proto__') ? undefined : steps;
}

/** @returns undefined, which is no JSON, where nothing is */
export function valueAt(document: unknown, steps: Steps): unknown {
  let value = document;
  for (const step of steps) {
    value = child(value, step);
    if (value === undefined) return undefined;
  }
  return value;
}

/** The index that a step means in an array (RFC 6901 section 4: no sign, no leading zero); undefined where it means none. */
export function indexOf(step: string): number | undefined {
  return INDEX.test(step) ? Number(step) : undefined;
}

/** Own members only: what every JavaScript object inherits is no data. */
function child(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return value[indexOf(step) ?? -1];
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

function unescaped(step: string): string {
  return step.replaceAll(/~[01]/g, (escaped) => ESCAPES[escaped as keyof typeof ESCAPES]);
}
