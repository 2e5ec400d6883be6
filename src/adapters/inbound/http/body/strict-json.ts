import { isUtf8 } from 'node:buffer';
import { isJsonObject } from '../../../../shared/json.js';
import { type CodedError, HttpError } from '../core/http-error.js';

const MAX_DEPTH = 20;
/** The limit of names and values together. No record has more than about 500. */
const MAX_TOKENS = 10_000;
/** Decimals of 15 digits are all different as doubles, so only a longer number with a point may become an integer. */
const MAX_EXACT_LENGTH = 16;
/** A JSON Patch can set attributes as a part of the record, all of them, or one. */
const ATTRIBUTES_POINTER = /^\/attributes(?:\/|$)/;

/** Bytes of UTF-8, and UTF-16 units of a text. */
const CODE = {
  tab: 0x09,
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  space: 0x20,
  quotationMark: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

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
 * Parses a record or a JSON Patch like {@link parseStrictJson}, with an empty array, which no field accepts, in place of
 * each number that is no integer and would be rounded to one. Attributes keep them, because any double may be one.
 * @throws HttpError `malformed_json`, `payload_too_large`
 */
export function parseBody(bytes: Buffer): unknown {
  const { value, text, mayBeRounded } = parse(bytes);
  const { rounded } = mayBeRounded ? new JsonScanner(text) : { rounded: [] };
  if (rounded.length === 0) return value;
  const starts = [0, ...rounded.map(([, end]) => end)];
  const kept = starts.map((start, at) => text.slice(start, rounded[at]?.[0]));
  return withAttributesOf(value, JSON.parse(kept.join('[]')));
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

function parse(bytes: Buffer): { value: unknown; text: string; mayBeRounded: boolean } {
  if (!isUtf8(bytes)) throw malformed(bytes.toString('utf8', 0, firstInvalidUtf8(bytes)), 'is not UTF-8');
  const { names, mayBeRounded } = checkStructure(bytes);
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notJson(text);
  }
  if (distinctNames(value) !== names) {
    const { wrongName } = new JsonScanner(text);
    if (wrongName) throw malformed(text.slice(0, wrongName.index), wrongName.what);
  }
  return { value, text, mayBeRounded };
}

function notJson(text: string): HttpError {
  if (/^[ \t\n\r]*$/.test(text)) return new HttpError('malformed_json', 'The body is empty.');
  const { index } = new JsonScanner(text);
  const isEnd = index === text.length;
  const what = text.startsWith(BYTE_ORDER_MARK)
    ? 'begins with a byte order mark'
    : `is not JSON: unexpected ${isEnd ? 'end' : 'character'}`;
  return malformed(text.slice(0, index), what);
}

/**
 * @param before the text before the error
 * @param what completes a sentence that begins with "The body"
 */
function malformed(before: string, what: string): HttpError {
  const { line, column } = positionAfter(before);
  return new HttpError('malformed_json', `The body ${what}, at line ${line}, column ${column}.`);
}

/**
 * The place behind a text. A line ends with a line feed, a carriage return, or both; a column is a Unicode code point,
 * and a tab is one. Both count from 1.
 */
export function positionAfter(text: string): { readonly line: number; readonly column: number } {
  let line = 1;
  let column = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === CODE.lineFeed || (code === CODE.carriageReturn && text.charCodeAt(at + 1) !== CODE.lineFeed)) {
      line++;
      column = 1;
    }
    // Not the second half of a surrogate pair.
    else if ((code & 0xfc00) !== 0xdc00) column++;
  }
  return { line, column };
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

/**
 * Checks the number of levels, names and values. The results are exact if the bytes are JSON.
 * @returns the number of names, and whether a number may be rounded to an integer
 * @throws HttpError `malformed_json`, `payload_too_large`
 */
function checkStructure(bytes: Buffer): { readonly names: number; readonly mayBeRounded: boolean } {
  let depth = 0;
  let names = 0;
  let mayBeRounded = false;
  let tokens = 0;
  /** Of the last number, true, false or null. */
  let wordStart = 0;
  let wordEnd = -1;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    switch (byte) {
      case CODE.tab:
      case CODE.lineFeed:
      case CODE.carriageReturn:
      case CODE.space:
      case CODE.comma:
        continue;
      case CODE.colon:
        names++;
        continue;
      case CODE.closeBrace:
      case CODE.closeBracket:
        depth--;
        continue;
      case CODE.quotationMark:
        index = endOfString(bytes, index);
        break;
      case CODE.openBrace:
      case CODE.openBracket:
        if (++depth > MAX_DEPTH)
          throw malformed(bytes.toString('utf8', 0, index), `is nested deeper than ${MAX_DEPTH} levels`);
        break;
      default:
        if (index === wordEnd) {
          wordEnd++;
          if (byte === CODE.minus || index - wordStart >= MAX_EXACT_LENGTH) mayBeRounded = true;
          continue;
        }
        wordStart = index;
        wordEnd = index + 1;
    }
    if (++tokens > MAX_TOKENS) throw tooManyTokens();
  }
  return { names, mayBeRounded };
}

/** @returns the index of the closing quotation mark, or of the end of the bytes */
function endOfString(bytes: Buffer, start: number): number {
  let index = start + 1;
  while (index < bytes.length && bytes[index] !== CODE.quotationMark) index += bytes[index] === CODE.backslash ? 2 : 1;
  return index;
}

function tooManyTokens(): CodedError {
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

/** A number of RFC 8259 section 6, or the beginning of one, which does not end with a digit. */
const NUMBER = /-?(?:(0|[1-9]\d*)(?:\.(?!\d)|(?:\.(\d+))?(?:[eE]([+-]?\d*))?))?/y;
const DIGITS = '0123456789';
const HEX_DIGITS = '0123456789abcdefABCDEF';
const SPACES = ' \t\n\r';
const ESCAPED = '"\\/bfnrt';
/** Stands behind the last character. */
const END = '\0';

/** What is wrong at an index of a text. */
interface Issue {
  readonly index: number;
  /** Completes a sentence that begins with the name of the text. */
  readonly what: string;
}

function numberAt(text: string, index: number): RegExpExecArray {
  NUMBER.lastIndex = index;
  return NUMBER.exec(text) as RegExpExecArray;
}

function endsWithDigit(text: string): boolean {
  return DIGITS.includes(text.at(-1) ?? END);
}

/**
 * Whether a number is no integer, but the nearest double is one: `0.99999999999999999` or `1e-400`. A field for integers
 * would hold another number than the client sent.
 * @param literal a number as JSON writes it
 */
function isRoundedToInteger(literal: string): boolean {
  if (!Number.isInteger(Number(literal))) return false;
  const [, integer = '', fraction = '', exponent = '0'] = numberAt(literal, 0);
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
 * Reads a text that may be JSON (RFC 8259) and finds what `JSON.parse` does not tell, or tells differently in each
 * version of Node. Slow, and recursive: the text must be nested to a bounded depth. Each private method returns false
 * where the text stops being JSON, with the index there.
 */
export class JsonScanner {
  /** The index of the first character that no JSON text can have there, or the length if the text ends too early. */
  index = 0;
  /** The first name that is `__proto__` or stands in its object twice. */
  wrongName: Issue | undefined;
  /** Start and end of each number that {@link isRoundedToInteger}. */
  readonly rounded: (readonly [start: number, end: number])[] = [];

  constructor(private readonly text: string) {
    this.value();
  }

  private get next(): string {
    return this.text[this.index] ?? END;
  }

  /** A value with the white space around it. */
  private value(): boolean {
    this.skipSpace();
    const isValid = this.bareValue();
    if (isValid) this.skipSpace();
    return isValid;
  }

  private bareValue(): boolean {
    switch (this.next) {
      case '{':
        return this.object();
      case '[':
        return this.list(']', () => this.value());
      case '"':
        return this.string();
      case 't':
        return this.word('true');
      case 'f':
        return this.word('false');
      case 'n':
        return this.word('null');
      default:
        return this.number();
    }
  }

  private object(): boolean {
    const names = new Set<string>();
    return this.list('}', () => this.member(names));
  }

  /** An array or an object. */
  private list(end: string, element: () => boolean): boolean {
    this.index++;
    this.skipSpace();
    if (this.take(end)) return true;
    do if (!element()) return false;
    while (this.take(','));
    return this.take(end);
  }

  private member(names: Set<string>): boolean {
    this.skipSpace();
    const start = this.index;
    if (this.next !== '"' || !this.string()) return false;
    this.wrongName ??= this.addName(names, start);
    this.skipSpace();
    return this.take(':') && this.value();
  }

  /** @returns what is wrong with the name that ends here, if anything */
  private addName(names: Set<string>, index: number): Issue | undefined {
    const name = JSON.parse(this.text.slice(index, this.index)) as string;
    if (name === '__proto__') return { index, what: 'has a member named __proto__' };
    if (names.has(name)) return { index, what: `has the member ${JSON.stringify(name)} twice in one object` };
    names.add(name);
    return undefined;
  }

  private string(): boolean {
    this.index++;
    for (;;) {
      const code = this.text.charCodeAt(this.index);
      // Also at the end, where it is not a number.
      if (!(code >= CODE.space)) return false;
      this.index++;
      if (code === CODE.quotationMark) return true;
      if (code === CODE.backslash && !this.escape()) return false;
    }
  }

  private escape(): boolean {
    if (!this.take('u')) return this.takeOne(ESCAPED);
    for (let digits = 0; digits < 4; digits++) if (!this.takeOne(HEX_DIGITS)) return false;
    return true;
  }

  private number(): boolean {
    const start = this.index;
    const [literal] = numberAt(this.text, start);
    this.index += literal.length;
    if (!endsWithDigit(literal)) return false;
    if (isRoundedToInteger(literal)) this.rounded.push([start, this.index]);
    return true;
  }

  private word(word: string): boolean {
    return [...word].every((letter) => this.take(letter));
  }

  private skipSpace(): void {
    while (this.takeOne(SPACES));
  }

  private take(character: string): boolean {
    const isTaken = this.next === character;
    if (isTaken) this.index++;
    return isTaken;
  }

  private takeOne(characters: string): boolean {
    const isTaken = characters.includes(this.next);
    if (isTaken) this.index++;
    return isTaken;
  }
}
