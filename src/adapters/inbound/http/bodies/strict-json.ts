import { isUtf8 } from 'node:buffer';
import { CatalogueError } from '../../../../domain/errors.js';

const MAX_DEPTH = 20;
const NAMED_PROTO = 'The body has a member named __proto__.';

/** So many names are looked at one by one, so that one that is wrong can be told; of more it is only found that one is. */
const MAX_NAMED = 1_000;

/**
 * JSON as RFC 8259 has it, less what parsers are known to disagree on: a name that occurs twice in an object, the name
 * `__proto__`, a depth over 20, a byte order mark, and bytes that are no UTF-8.
 * @throws CatalogueError `malformed_json`
 */
export function parseStrictJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw malformed('The body is not UTF-8.');
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed(text.trim() === '' ? 'The body is empty.' : 'The body is not JSON.');
  }
  const names = checkStructure(text);
  if (names > MAX_NAMED) checkNames(value, names);
  return value;
}

/**
 * Walks text that is known to be JSON: only its brackets and strings matter.
 * @returns how many names are in it
 */
function checkStructure(text: string): number {
  let count = 0;
  /** For each level that is open: the names seen, or null in an array. */
  const levels: (Set<string> | null)[] = [];
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '{':
      case '[':
        levels.push(text[at] === '{' ? new Set() : null);
        if (levels.length > MAX_DEPTH) throw malformed(`The body is nested deeper than ${MAX_DEPTH} levels.`);
        break;
      case '}':
      case ']':
        levels.pop();
        break;
      case '"': {
        const end = endOfString(text, at);
        const names = levels.at(-1);
        if (names && isName(text, end) && ++count <= MAX_NAMED) noteName(names, text.slice(at, end + 1));
        at = end;
      }
    }
  }
  return count;
}

/** Of names that are alike in one object the parser keeps one. */
function checkNames(value: unknown, written: number): void {
  if (countNames(value) !== written) throw malformed('The body has some member twice in one object.');
}

function countNames(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Object.hasOwn(value, '__proto__')) throw malformed(NAMED_PROTO);
  const parts: unknown[] = Object.values(value);
  const own = Array.isArray(value) ? 0 : parts.length;
  return parts.reduce((count: number, part) => count + countNames(part), own);
}

function noteName(names: Set<string>, literal: string): void {
  const name = literal.includes('\\') ? (JSON.parse(literal) as string) : literal.slice(1, -1);
  if (name === '__proto__') throw malformed(NAMED_PROTO);
  if (names.has(name))
    throw malformed(`The body has the member ${JSON.stringify(name)} twice in one object.`);
  names.add(name);
}

/** @returns the index of the closing quotation mark */
function endOfString(text: string, start: number): number {
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

function malformed(message: string): CatalogueError {
  return new CatalogueError('malformed_json', message);
}
