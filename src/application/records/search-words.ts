import { compareText } from '../../domain/text.js';
import type { RecordTable } from './list-query.js';

/** Increases with every change of the functions below that changes the words of some text. */
const ALGORITHM = 1;

/**
 * The version of the rules that make words. They depend on the Unicode tables of the runtime, so a later release of
 * Node has a higher version. A store keeps the version with its words, and makes them again when this one is higher.
 */
export const SEARCH_RULES = rulesVersion(process.versions['unicode'] ?? '0.0');

/** The length of a word, in code points. A longer word of a record is found by its beginning. */
export const MAX_WORD_LENGTH = 64;

/** @param unicode such as 15.1 */
export function rulesVersion(unicode: string): number {
  const [major = 0, minor = 0] = unicode.split('.').map(Number);
  return ALGORITHM * 1_000_000 + major * 1_000 + minor;
}

const ASCII = /^[\x00-\x7f]*$/;
const ASCII_WORDS = /[a-z0-9]+/g;

/** Marks that many people leave out when they type: accents, Hebrew points, Arabic vowels. */
const OPTIONAL_MARKS = /(?=\p{M})[\p{Script=Inherited}\p{Script=Hebrew}\p{Script=Arabic}]/gu;

/** Scripts that write no spaces between words. */
const UNSPACED = String.raw`[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}]`;
const CHARACTER = String.raw`[\p{L}\p{N}\p{M}]`;
const WORDS = new RegExp(`[${CHARACTER}--${UNSPACED}]+|[${CHARACTER}&&${UNSPACED}]+`, 'gv');
const UNSPACED_START = new RegExp(`^${UNSPACED}`, 'u');

interface Word {
  readonly text: string;
  /** Whether it is a run of a script without spaces, in which every character begins a word. */
  readonly isUnspaced: boolean;
}

/** Splits a text into words, in its order. Upper and lower case, and marks such as accents, make no difference. */
function splitWords(text: string): Word[] {
  if (ASCII.test(text))
    return (text.toLowerCase().match(ASCII_WORDS) ?? []).map((word) => ({ text: word, isUnspaced: false }));
  const normalized = text.normalize('NFKD').replaceAll(OPTIONAL_MARKS, '').toLowerCase().replaceAll('ς', 'σ');
  const words = normalized.match(WORDS) ?? [];
  return words.map((text) => ({ text, isUnspaced: UNSPACED_START.test(text) }));
}

/** Returns the words of a query, in its order. Each must be the beginning of a word of the record. */
export function queryWords(query: string): string[] {
  return splitWords(query).map(({ text }) => text);
}

/**
 * Returns the words by which a record is found, each once.
 * @param maxLength the code points of a word that count, at most {@link MAX_WORD_LENGTH}
 * @param most the number of words after which only one more is made, to show that there are more
 * @returns no words if the table is not searchable
 */
export function recordWords(
  table: Searched,
  fields: object,
  maxLength = MAX_WORD_LENGTH,
  most = Number.POSITIVE_INFINITY,
): string[] {
  const words = new Set<string>();
  for (const { text, isUnspaced } of wordsIn(table, fields)) {
    for (const word of isUnspaced ? suffixes(text, maxLength) : [beginningOf(text, maxLength)]) {
      words.add(word);
      if (words.size > most) return [...words];
    }
  }
  return [...words];
}

/** The beginning of what starts at each character of a run. */
function* suffixes(run: string, maxLength: number): Generator<string, void, void> {
  let end = 0;
  for (let from = 0, length = 0; from < run.length; from += unitsAt(run, from), length--) {
    for (; end < run.length && length < maxLength; length++) end += unitsAt(run, end);
    yield run.slice(from, end);
  }
}

/** The UTF-16 units of the character at an index. */
function unitsAt(text: string, at: number): 1 | 2 {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/**
 * Returns the words of a record in one text, for {@link matchesText}. A run of a script without spaces is in it once,
 * so it is hardly longer than the texts of the record, whose words may take many times their space.
 */
export function recordText(table: Searched, fields: object): string {
  const words = new Set<string>();
  for (const { text } of wordsIn(table, fields)) words.add(text);
  return [...words].map((word) => WORD_START + word).join('');
}

type Searched = Pick<RecordTable, 'searched'>;

/** No word has this character. */
const WORD_START = '\n';

function* wordsIn({ searched }: Searched, fields: object): Generator<Word, void, void> {
  for (const text of searchedTexts(searched, fields))
    yield* splitWords(ASCII.test(text) ? text : withoutRepeats(text));
}

/** Leaves out repeated parts of a text that normalising makes much longer: of U+FDFA it makes 18 characters. */
function withoutRepeats(text: string): string {
  const normalized = text.normalize('NFKD');
  return normalized.length > 2 * text.length ? [...new Set(normalized.split(' '))].join(' ') : text;
}

/** The texts in which words are searched. Those of an object are its members. */
function* searchedTexts(searched: readonly string[], fields: object): Generator<string, void, void> {
  for (const name of searched) {
    const value = (fields as Readonly<Record<string, unknown>>)[name];
    const values = typeof value === 'object' && value !== null ? Object.values(value) : [value];
    for (const text of values) if (typeof text === 'string') yield text;
  }
}

/** The length of the texts that a search in a record reads, in UTF-16 units. */
export function searchedLength({ searched }: Searched, fields: object): number {
  let length = 0;
  for (const text of searchedTexts(searched, fields)) length += text.length;
  return length;
}

/** @param length in code points */
export function beginningOf(word: string, length: number): string {
  return word.length <= length ? word : [...word].slice(0, length).join('');
}

/** Whether each word of a query is the beginning of a word of the record. */
export function matchesWords(query: readonly string[], words: readonly string[]): boolean {
  return query.every((wanted) => words.some((word) => word.startsWith(wanted)));
}

/** Whether each word of a query is the beginning of a word of the record. */
export function matchesText(query: readonly string[], recordText: string): boolean {
  return query.every((wanted) =>
    recordText.includes(UNSPACED_START.test(wanted) ? wanted : WORD_START + wanted),
  );
}

/**
 * Returns the words of a query that decide, in one order, so that queries with the same meaning are equal. A word that
 * begins another word of the query decides nothing.
 */
export function decidingWords(words: readonly string[]): string[] {
  const distinct = [...new Set(words)];
  return distinct
    .filter((word) => !distinct.some((other) => other !== word && other.startsWith(word)))
    .sort(compareText);
}
