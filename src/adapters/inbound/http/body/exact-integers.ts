import { isJsonObject } from '../../../../application/patch/merge-patch.js';

const BEGINS_NUMBER = /[-0-9]/;
/** A number of RFC 8259 section 6. */
const NUMBER = /-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?/y;
/** A JSON Patch can set attributes as a part of the record, all of them, or one. */
const ATTRIBUTES_POINTER = /^\/attributes(?:\/|$)/;

/**
 * Whether a number is no integer, but the nearest double is one: `0.99999999999999999` or `1e-400`. A field for integers
 * would hold another number than the client sent.
 * @param literal a number as JSON writes it
 */
export function isRoundedToInteger(literal: string): boolean {
  if (!Number.isInteger(Number(literal))) return false;
  NUMBER.lastIndex = 0;
  const [, integer = '', fraction = '', exponent = '0'] = NUMBER.exec(literal) ?? [];
  const digits = (integer + fraction).replace(/0+$/, '');
  return digits !== '' && digits.length > integer.length + Number(exponent);
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
    else if (BEGINS_NUMBER.test(text[index] ?? '')) {
      NUMBER.lastIndex = index;
      const [literal = ''] = NUMBER.exec(text) ?? [];
      if (isRoundedToInteger(literal)) {
        kept += `${text.slice(end, index)}[]`;
        end = index + literal.length;
      }
      index += literal.length - 1;
    }
  }
  return kept + text.slice(end);
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
