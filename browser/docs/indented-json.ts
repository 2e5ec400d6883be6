/** Texts, other values, and the characters that hold them together. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Breaks JSON into lines. Every value stays as it was written: a number keeps its digits, which reading and writing it
 * anew would not promise.
 * @returns what is no JSON as it is
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
