import type { FaultCode } from './errors.js';
import { ONE_LINE, type TextRule, textFaults } from './text.js';

export type AttributeValue = string | number | boolean;

/** Fields that a client names. Keys are data: `.`, `$` and `:` have no meaning in them. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

export const ATTRIBUTES = {
  maxKeys: 50,
  key: { min: 1, max: 64, allowed: ONE_LINE } satisfies TextRule,
  text: { min: 0, max: 500, allowed: ONE_LINE } satisfies TextRule,
} as const;

/** No valid object has as many keys. The bound limits the work for an invalid one. */
const MAX_JUDGED = 1_000;

export interface AttributeFault {
  readonly code: FaultCode;
  /** Empty if the issue is of the whole object. */
  readonly path: readonly string[];
}

/** Every issue of attributes. Values may be of any type. */
export function attributeFaults(attributes: Readonly<Record<string, unknown>>): AttributeFault[] {
  const entries = Object.entries(attributes);
  const judged = entries.slice(0, MAX_JUDGED);
  const tooMany: AttributeFault[] =
    entries.length > ATTRIBUTES.maxKeys ? [{ code: 'too_long', path: [] }] : [];
  return tooMany.concat(
    judged.flatMap(([key, value]) =>
      [...textFaults(key, ATTRIBUTES.key), ...valueFaults(value)].map((code) => ({ code, path: [key] })),
    ),
  );
}

function valueFaults(value: unknown): FaultCode[] {
  if (typeof value === 'string') return textFaults(value, ATTRIBUTES.text);
  if (typeof value === 'boolean') return [];
  if (typeof value !== 'number') return ['invalid_type'];
  return isKeptExactly(value) ? [] : ['out_of_range'];
}

/** From 2^53 on a double stands for several integers, so a client could get back another number than it sent. */
function isKeptExactly(value: number): boolean {
  return Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}
