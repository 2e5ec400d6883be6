/**
 * The definition of a search, word for word, character by character, without regard to its cost. It shares no code with
 * the service: its words are found with classes of single characters, and its runs by hand.
 */
export function findsByDefinition(query: string, text: string): boolean {
  const runs = runsOf(query);
  if (runs.length === 0) return true;
  const words = runsOf(text).flatMap((run) => (isUnspaced(run[0] ?? '') ? suffixesOf(run) : [run]));
  return runs.every((wanted) =>
    words.some((word) => wanted.every((character, at) => word[at] === character)),
  );
}

function runsOf(text: string): string[][] {
  const runs: string[][] = [];
  let last: string | undefined;
  for (const character of normalized(text)) {
    const kind = /^[\p{L}\p{N}\p{M}]$/u.test(character) ? kindOf(character) : undefined;
    if (kind !== undefined && kind === last) runs.at(-1)?.push(character);
    else if (kind !== undefined) runs.push([character]);
    last = kind;
  }
  return runs;
}

function normalized(text: string): string[] {
  const kept = [...text.normalize('NFKD')].filter((character) => !isRemovedMark(character));
  return [...kept.join('').toLowerCase()].map((character) => (character === 'ς' ? 'σ' : character));
}

function isRemovedMark(character: string): boolean {
  if (!/^\p{M}$/u.test(character)) return false;
  return [/^\p{Script=Inherited}$/u, /^\p{Script=Hebrew}$/u, /^\p{Script=Arabic}$/u].some((script) =>
    script.test(character),
  );
}

function kindOf(character: string): string {
  return isUnspaced(character) ? 'unspaced' : 'spaced';
}

function isUnspaced(character: string): boolean {
  const scripts = ['Han', 'Hiragana', 'Katakana', 'Thai'];
  return scripts.some((script) => new RegExp(`^\\p{Script_Extensions=${script}}$`, 'u').test(character));
}

function suffixesOf(run: readonly string[]): string[][] {
  return run.map((_, at) => run.slice(at));
}
