import { isUtf8 } from 'node:buffer';
import { HttpError } from '../response/http-error.js';

const MAX_DEPTH = 20;
/** Of names and values together. No record has more than some 500. */
const MAX_TOKENS = 10_000;

/**
 * JSON as RFC 8259 has it, less what parsers are known to disagree on: a name that occurs twice in an object, the name
 * `__proto__`, a depth over 20, a byte order mark, and bytes that are no UTF-8. Names and values are counted before
 * anything is parsed, since a parser takes up to 200 ms for a body of 1 MiB that has hundreds of thousands.
 * @throws AppError `malformed_json`, `payload_too_large`
 */
export function parseStrictJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw malformed('The body is not UTF-8.');
  boundStructure(bytes);
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed(text.trim() === '' ? 'The body is empty.' : 'The body is not JSON.');
  }
  checkNames(text);
  return value;
}

const BYTE = {
  tab: 0x09,
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  space: 0x20,
  quotationMark: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

/**
 * Counts levels, names and values. The bytes may be no JSON; those of JSON are counted exactly.
 * @throws AppError `malformed_json`, `payload_too_large`
 */
function boundStructure(bytes: Buffer): void {
  let depth = 0;
  let tokens = 0;
  let isInWord = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    switch (byte) {
      case BYTE.tab:
      case BYTE.lineFeed:
      case BYTE.carriageReturn:
      case BYTE.space:
      case BYTE.comma:
      case BYTE.colon:
        isInWord = false;
        continue;
      case BYTE.closeBrace:
      case BYTE.closeBracket:
        isInWord = false;
        depth--;
        continue;
      case BYTE.quotationMark:
        at = endOfString(bytes, at);
        isInWord = false;
        break;
      case BYTE.openBrace:
      case BYTE.openBracket:
        isInWord = false;
        if (++depth > MAX_DEPTH) throw malformed(`The body is nested deeper than ${MAX_DEPTH} levels.`);
        break;
      default:
        // A number, true, false or null.
        if (isInWord) continue;
        isInWord = true;
    }
    if (++tokens > MAX_TOKENS) throw tooManyTokens();
  }
}

/** @returns the index of the closing quotation mark, else of the end */
function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== BYTE.quotationMark) at += bytes[at] === BYTE.backslash ? 2 : 1;
  return at;
}

function tooManyTokens(): HttpError {
  return new HttpError('payload_too_large', `The body has more than ${MAX_TOKENS} names and values.`);
}

/**
 * Walks text that is known to be JSON: only its brackets and strings matter.
 * @throws AppError `malformed_json` if an object has a name twice, or the name `__proto__`
 */
function checkNames(text: string): void {
  /** For each level that is open: the names seen, or null in an array. */
  const levels: (Set<string> | null)[] = [];
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '{':
      case '[':
        levels.push(text[at] === '{' ? new Set() : null);
        break;
      case '}':
      case ']':
        levels.pop();
        break;
      case '"': {
        const end = endOfText(text, at);
        const names = levels.at(-1);
        if (names && isName(text, end)) noteName(names, text.slice(at, end + 1));
        at = end;
      }
    }
  }
}

function noteName(names: Set<string>, literal: string): void {
  const name = literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1);
  if (name === '__proto__') throw malformed('The body has a member named __proto__.');
  if (names.has(name))
    throw malformed(`The body has the member ${JSON.stringify(name)} twice in one object.`);
  names.add(name);
}

/** @returns the index of the closing quotation mark */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/** In an object, a string that a colon follows is a name. */
function isName(text: string, end: number): boolean {
  let at = end + 1;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  return text[at] === ':';
}

function malformed(message: string): HttpError {
  return new HttpError('malformed_json', message);
}
