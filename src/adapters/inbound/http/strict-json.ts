import { isUtf8 } from 'node:buffer';
import { CatalogueError } from '../../../domain/errors.js';

const MAX_DEPTH = 20;

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
  checkStructure(text);
  return value;
}

/** Walks text that is known to be JSON: only its brackets and strings matter. */
function checkStructure(text: string): void {
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
