import { element } from './element.js';

/** A string, with the colon after it if it is a name; a number; a literal; or punctuation. A string may lack its end. */
const TOKEN =
  /("[^"\\]*(?:\\[\s\S][^"\\]*)*"?)(\s*:)?|(-?\d[\d.eE+-]*)|\b(true|false|null)\b|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Breaks JSON into indented lines. Every value stays as it was written: parsing and formatting could change the digits
 * of a number.
 * @returns the text itself if it is not JSON
 */
export function indentedJson(text: string): string {
  if (!isJson(text)) return text;
  const tokens = [...text.matchAll(TOKEN)].flatMap(([token, string, colon]) =>
    colon === undefined ? [token] : [`${string}`, ':'],
  );
  let depth = 0;
  return tokens
    .map((token, at) => {
      const isClosing = token === '}' || token === ']';
      if (isClosing) depth -= 1;
      const line = `${breakBefore(tokens[at - 1], isClosing, depth)}${token === ':' ? ': ' : token}`;
      if (token === '{' || token === '[') depth += 1;
      return line;
    })
    .join('');
}

function breakBefore(before: string | undefined, isClosing: boolean, depth: number): string {
  const isOpened = before === '{' || before === '[';
  const isDue = isClosing ? !isOpened : isOpened || before === ',';
  return isDue ? `\n${'  '.repeat(depth)}` : '';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export type TokenKind = 'name' | 'string' | 'number' | 'literal';

/** The parts of JSON, or of lines of JSON, that have a colour. The text may end anywhere. */
export function jsonParts(text: string): (readonly [part: string, kind?: TokenKind])[] {
  const parts: (readonly [string, TokenKind?])[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [, string, colon, number, literal] = match;
    const coloured = string ?? number ?? literal;
    if (coloured === undefined) continue;
    if (match.index > end) parts.push([text.slice(end, match.index)]);
    end = match.index + coloured.length;
    parts.push([coloured, kindOf(string, colon, number)]);
  }
  return end < text.length ? [...parts, [text.slice(end)]] : parts;
}

function kindOf(string: string | undefined, colon: string | undefined, number: string | undefined): TokenKind {
  if (string !== undefined) return colon === undefined ? 'string' : 'name';
  return number === undefined ? 'literal' : 'number';
}

/** The characters of a text that have colours. A line with many more of them takes a browser seconds to lay out. */
const MAX_COLOURED = 64 * 1024;

/** The same text, in colours if its media type is a form of JSON. */
export function colouredJson(text: string, type: string): Node {
  if (!/json/i.test(type)) return document.createTextNode(text);
  const coloured = document.createDocumentFragment();
  for (const [part, kind] of jsonParts(text.slice(0, MAX_COLOURED)))
    coloured.append(kind === undefined ? part : element('span', { class: `json-${kind}` }, part));
  coloured.append(text.slice(MAX_COLOURED));
  return coloured;
}
