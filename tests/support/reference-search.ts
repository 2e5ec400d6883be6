import type { SearchFilter } from '#src/application/ports/list-query.js';
import { decidingWords, queryWords } from '#src/application/search/tokenizer.js';
import { RECORD_TABLES } from '#src/composition/tables.js';
import type { Id, Versioned } from '#src/domain/record.js';

const OPTIONAL_MARKS = [/^\p{Script=Inherited}$/u, /^\p{Script=Hebrew}$/u, /^\p{Script=Arabic}$/u];
const UNSPACED = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar'].map(
  (script) => new RegExp(`^\\p{Script_Extensions=${script}}$`, 'u'),
);

/** Letters, and what stands in their place after everything else. */
const REPLACED: Readonly<Record<string, string>> = {
  ...{ ς: 'σ', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', þ: 'th' },
  ...{ ł: 'l', ħ: 'h', ŧ: 't', ŋ: 'n', ı: 'i', ß: 'ss' },
};

/** Code points of characters without a width, and of the tatweel. */
const REMOVED = new Set([0xad, 0x200b, 0x200c, 0x200d, 0x2060, 0xfeff, 0x640]);

/** So many different words of a record count. */
const COUNTED_WORDS = 8_000;

/**
 * The definition of a search, word for word, character by character, without regard to its cost. It shares no code with
 * the service: its words are found with classes of single characters, and its runs by hand.
 */
export function findsByDefinition(query: string, text: string): boolean {
  return finderOf(text)(query);
}

/** Says of queries whether they find a text: {@link findsByDefinition}. */
export function finderOf(text: string): (query: string) => boolean {
  const words = wordsOf(text);
  return (query) => hasAll(words, wantedBy(query));
}

/** The beginnings of words that a query wants. */
function wantedBy(query: string): string[] {
  return runsOf(query).map((run) => run.join(''));
}

function hasAll(words: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((beginning) => words.some((word) => word.startsWith(beginning)));
}

/** The words of texts: the tests search the same few texts again and again. */
const known = new Map<string, readonly string[]>();
const MOST_KNOWN = 5_000;

function knownWordsOf(text: string): readonly string[] {
  const words = known.get(text) ?? wordsOf(text);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(text, words);
  return words;
}

function wordsOf(text: string): string[] {
  const words = new Set(runsOf(text).flatMap((run) => (isUnspaced(run[0] ?? '') ? suffixesOf(run) : [run.join('')])));
  return [...words].slice(0, COUNTED_WORDS);
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
  return [...kept.join('').toLowerCase()]
    .filter((character) => !REMOVED.has(character.codePointAt(0) ?? 0))
    .flatMap((character) => [...(REPLACED[character] ?? character)]);
}

function isRemovedMark(character: string): boolean {
  if (!/^\p{M}$/u.test(character)) return false;
  return OPTIONAL_MARKS.some((script) => script.test(character));
}

function kindOf(character: string): string {
  return isUnspaced(character) ? 'unspaced' : 'spaced';
}

function isUnspaced(character: string): boolean {
  return UNSPACED.some((script) => script.test(character));
}

function suffixesOf(run: readonly string[]): string[] {
  const suffixes: string[] = [];
  for (let rest = run.join(''); rest !== ''; rest = rest.slice(run[suffixes.length - 1]?.length)) suffixes.push(rest);
  return suffixes;
}

/** The ids of the records that a search finds, in the order of the records. */
export function expectedFinds(
  table: keyof typeof RECORD_TABLES,
  records: Iterable<Versioned<object>>,
  query: string,
): Id[] {
  const wanted = wantedBy(query);
  const isFound = (fields: object) => hasAll(knownWordsOf(searchedText(RECORD_TABLES[table].searched, fields)), wanted);
  return Array.from(records)
    .filter(({ fields }) => isFound(fields))
    .map(({ id }) => id);
}

/** The texts of the searched fields, one a line, so that no word reaches from one into the next. */
function searchedText(names: readonly string[], fields: object): string {
  return names
    .map((name) => (fields as Readonly<Record<string, unknown>>)[name])
    .flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : [value]))
    .filter((value) => typeof value === 'string')
    .join('\n');
}

/** The filter of the parameter `q` with this text. */
export function searchFor(text: string): SearchFilter {
  return { field: 'q', operator: 'search', words: decidingWords(queryWords(text)) };
}
