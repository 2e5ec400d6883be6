import { isUtf8 } from 'node:buffer';
import { HttpError } from '../core/http-error.js';
import { endOfText, withExactIntegers } from './exact-integers.js';
import { endOfValidJson, positionOf } from './json-position.js';

const MAX_DEPTH = 20;
/** The limit of names and values together. No record has more than about 500. */
const MAX_TOKENS = 10_000;

/**
 * Parses JSON (RFC 8259). Rejects input on which parsers disagree: a duplicate name in an object, the name `__proto__`,
 * a depth over 20, a byte order mark, and bytes that are not UTF-8. Counts names and values before it parses, because
 * parsing hundreds of thousands of them in a body of 1 MiB takes up to 200 ms.
 * @throws HttpError `malformed_json` with the position of the first error, `payload_too_large`
 */
export function parseStrictJson(bytes: Buffer): unknown {
  return parse(bytes).value;
}

/**
 * Parses a record or a JSON Patch like {@link parseStrictJson}, so that no integer of it has been rounded.
 * @throws HttpError `malformed_json`, `payload_too_large`
 */
export function parseBody(bytes: Buffer): unknown {
  const { value, text, hasFraction } = parse(bytes);
  return hasFraction ? withExactIntegers(value, text) : value;
}

function parse(bytes: Buffer): { value: unknown; text: string; hasFraction: boolean } {
  if (!isUtf8(bytes)) throw malformed(bytes, firstInvalidUtf8(bytes), 'is not UTF-8');
  const { names, hasFraction } = checkStructure(bytes);
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notJson(bytes, text);
  }
  // Slower, and only needed to say which name is wrong.
  if (distinctNames(value) !== names) checkNames(bytes, text);
  return { value, text, hasFraction };
}

function notJson(bytes: Buffer, text: string): HttpError {
  if (/^[ \t\n\r]*$/.test(text)) return new HttpError('malformed_json', 'The body is empty.');
  const end = endOfValidJson(bytes);
  if (text.startsWith(BYTE_ORDER_MARK)) return malformed(bytes, end, 'begins with a byte order mark');
  return malformed(bytes, end, `is not JSON: unexpected ${end === bytes.length ? 'end' : 'character'}`);
}

/**
 * @param index of the byte where the error is
 * @param what completes a sentence that begins with "The body"
 */
function malformed(bytes: Buffer, index: number, what: string): HttpError {
  const { line, column } = positionOf(bytes, index);
  return new HttpError('malformed_json', `The body ${what}, at line ${line}, column ${column}.`);
}

/**
 * Compares the bytes with those of the decoded text, in which U+FFFD replaces what is invalid. Far faster than a search
 * for U+FFFD, which a valid text can contain often.
 * @returns the index of the first byte that belongs to no character
 */
function firstInvalidUtf8(bytes: Buffer): number {
  const replaced = Buffer.from(bytes.toString('utf8'));
  let index = 0;
  while (bytes[index] === replaced[index]) index++;
  // The invalid bytes can begin like U+FFFD, whose bytes after the first are 10xxxxxx.
  while (((replaced[index] ?? 0) & 0xc0) === 0x80) index--;
  return index;
}

const BYTE_ORDER_MARK = '\ufeff';

const BYTE = {
  tab: 0x09,
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  space: 0x20,
  quotationMark: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  point: 0x2e,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

/**
 * Checks the number of levels, names and values. The results are exact if the bytes are JSON.
 * @returns the number of names, and whether a number has a fraction or a negative exponent
 * @throws HttpError `malformed_json`, `payload_too_large`
 */
function checkStructure(bytes: Buffer): { readonly names: number; readonly hasFraction: boolean } {
  let depth = 0;
  let names = 0;
  let hasFraction = false;
  let tokens = 0;
  let isInWord = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    switch (byte) {
      case BYTE.tab:
      case BYTE.lineFeed:
      case BYTE.carriageReturn:
      case BYTE.space:
      case BYTE.comma:
        isInWord = false;
        continue;
      case BYTE.colon:
        isInWord = false;
        names++;
        continue;
      case BYTE.closeBrace:
      case BYTE.closeBracket:
        isInWord = false;
        depth--;
        continue;
      case BYTE.quotationMark:
        index = endOfString(bytes, index);
        isInWord = false;
        break;
      case BYTE.openBrace:
      case BYTE.openBracket:
        isInWord = false;
        if (++depth > MAX_DEPTH) throw malformed(bytes, index, `is nested deeper than ${MAX_DEPTH} levels`);
        break;
      default:
        // A number, true, false or null.
        if (isInWord) {
          if (byte === BYTE.point || byte === BYTE.minus) hasFraction = true;
          continue;
        }
        isInWord = true;
    }
    if (++tokens > MAX_TOKENS) throw tooManyTokens();
  }
  return { names, hasFraction };
}

/** @returns the index of the closing quotation mark, or of the end of the bytes */
function endOfString(bytes: Buffer, start: number): number {
  let index = start + 1;
  while (index < bytes.length && bytes[index] !== BYTE.quotationMark)
    index += bytes[index] === BYTE.backslash ? 2 : 1;
  return index;
}

function tooManyTokens(): HttpError {
  return new HttpError('payload_too_large', `The body has more than ${MAX_TOKENS} names and values.`);
}

/** @returns the number of names in a value, each once in its object; not a number if one is `__proto__` */
function distinctNames(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  for (const name of Object.keys(value)) {
    if (name === '__proto__') return Number.NaN;
    count += distinctNames((value as Record<string, unknown>)[name]);
    if (!Array.isArray(value)) count++;
  }
  return count;
}

/**
 * Checks the names of all objects.
 * @param text valid JSON, so that only brackets and strings matter
 * @throws HttpError `malformed_json` if an object has a duplicate name or the name `__proto__`
 */
function checkNames(bytes: Buffer, text: string): void {
  /** The names of each open object; null for an open array. */
  const levels: (Set<string> | null)[] = [];
  for (let index = 0; index < text.length; index++) {
    switch (text[index]) {
      case '{':
      case '[':
        levels.push(text[index] === '{' ? new Set() : null);
        break;
      case '}':
      case ']':
        levels.pop();
        break;
      case '"': {
        const end = endOfText(text, index);
        const names = levels.at(-1);
        if (names && isName(text, end)) {
          const issue = addName(names, text.slice(index, end + 1));
          if (issue) throw malformed(bytes, Buffer.byteLength(text.slice(0, index)), issue);
        }
        index = end;
      }
    }
  }
}

/** @returns what is wrong with the name, if anything */
function addName(names: Set<string>, literal: string): string | undefined {
  const name = literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1);
  if (name === '__proto__') return 'has a member named __proto__';
  if (names.has(name)) return `has the member ${JSON.stringify(name)} twice in one object`;
  names.add(name);
  return undefined;
}

/** Whether a string in an object is a name: a colon follows it. */
function isName(text: string, end: number): boolean {
  let index = end + 1;
  while (text[index] === ' ' || text[index] === '\n' || text[index] === '\r' || text[index] === '\t') index++;
  return text[index] === ':';
}
