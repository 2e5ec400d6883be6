import { isJsonObject } from '../../../../application/patch/merge-patch.js';

/** A number of RFC 8259 section 6. */
const NUMBER = /-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?/y;
/** A JSON Patch can set attributes as a part of the record, all of them, or one. */
const ATTRIBUTES_POINTER = /^\/attributes(?:\/|$)/;

/** Whether a text is a number as JSON writes it. */
export function isNumber(text: string): boolean {
  return numberAt(text, 0)?.[0] === text;
}

function numberAt(text: string, index: number): RegExpExecArray | null {
  NUMBER.lastIndex = index;
  return NUMBER.exec(text);
}

/**
 * Whether a number is no integer, but the nearest double is one: `0.99999999999999999` or `1e-400`. A field for integers
 * would hold another number than the client sent.
 * @param literal a number as JSON writes it
 */
export function isRoundedToInteger(literal: string): boolean {
  if (!Number.isInteger(Number(literal))) return false;
  const [, integer = '', fraction = '', exponent = '0'] = numberAt(literal, 0) ?? [];
  const significant = lengthWithoutZeros(integer + fraction);
  return significant > 0 && significant > integer.length + Number(exponent);
}

/** By hand: an expression such as `0+$` looks at each zero of a million once for every zero before it. */
function lengthWithoutZeros(digits: string): number {
  let length = digits.length;
  while (digits[length - 1] === '0') length--;
  return length;
}

/**
 * Returns the value of a record or of a JSON Patch with an empty array, which no field accepts, in place of each number
 * that {@link isRoundedToInteger}. Attributes keep them, because any double may be one.
 * @param text of the value: valid JSON
 */
export function withExactIntegers(value: unknown, text: string): unknown {
  const replaced = withoutRounded(text);
  return replaced === text ? value : withAttributesOf(value, JSON.parse(replaced));
}

function withoutRounded(text: string): string {
  let kept = '';
  let end = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '"') index = endOfText(text, index);
    else if (beginsNumber(text.charCodeAt(index))) {
      const [literal = ''] = numberAt(text, index) ?? [];
      if (isRoundedToInteger(literal)) {
        kept += `${text.slice(end, index)}[]`;
        end = index + literal.length;
      }
      index += literal.length - 1;
    }
  }
  return kept + text.slice(end);
}

const MINUS = '-'.charCodeAt(0);
const ZERO = '0'.charCodeAt(0);

function beginsNumber(code: number): boolean {
  return code === MINUS || (code >= ZERO && code <= ZERO + 9);
}

/** @returns the index of the closing quotation mark of a string in valid JSON */
export function endOfText(text: string, start: number): number {
  let index = start + 1;
  while (text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index;
}

/** Returns `replaced` with the attributes of `value`, which has the same form. */
function withAttributesOf(value: unknown, replaced: unknown): unknown {
  if (Array.isArray(value))
    return value.map((operation, at) => withAttributesOf(operation, (replaced as unknown[])[at]));
  if (!isJsonObject(value) || !isJsonObject(replaced)) return replaced;
  const { path, attributes } = value;
  if (typeof path !== 'string') return attributes === undefined ? replaced : { ...replaced, attributes };
  if (ATTRIBUTES_POINTER.test(path)) return value;
  return path === '' ? { ...replaced, value: withAttributesOf(value['value'], replaced['value']) } : replaced;
}
