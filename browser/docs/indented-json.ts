/** Strings, punctuation and other values. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Breaks JSON into indented lines. Every value stays as it was written: parsing and formatting could change the digits
 * of a number.
 * @returns the text itself if it is not JSON
 */
export function indentedJson(text: string): string {
  if (!isJson(text)) return text;
  const tokens = text.match(TOKEN) ?? [];
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
