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
const WORDS = new RegExp(
  `(?:(?!${UNSPACED})${CHARACTER})+|(?<unspaced>(?:(?=${UNSPACED})${CHARACTER})+)`,
  'gu',
);

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
  return [...normalized.matchAll(WORDS)].map(({ 0: word, groups }) => ({
    text: word,
    isUnspaced: groups?.['unspaced'] !== undefined,
  }));
}

/** Returns the words of a query, in its order. Each must be the beginning of a word of the record. */
export function queryWords(query: string): string[] {
  return splitWords(query).map(({ text }) => text);
}

/**
 * Returns the words by which a record is found, each once.
 * @param maxLength the code points of a word that count, at most {@link MAX_WORD_LENGTH}
 * @returns no words if the table is not searchable
 */
export function recordWords(
  { searched }: Pick<RecordTable, 'searched'>,
  fields: object,
  maxLength = MAX_WORD_LENGTH,
): string[] {
  const words = new Set<string>();
  for (const name of searched)
    addWords(words, (fields as Readonly<Record<string, unknown>>)[name], maxLength);
  return [...words];
}

/** @param value a text, or an object whose texts count; other values have no words */
function addWords(words: Set<string>, value: unknown, maxLength: number): void {
  if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) addText(words, member, maxLength);
  else addText(words, value, maxLength);
}

function addText(words: Set<string>, value: unknown, maxLength: number): void {
  if (typeof value !== 'string') return;
  for (const { text, isUnspaced } of splitWords(value)) {
    if (!isUnspaced) words.add(beginningOf(text, maxLength));
    else {
      const characters = [...text];
      for (const at of characters.keys()) words.add(characters.slice(at, at + maxLength).join(''));
    }
  }
}

/** @param length in code points */
export function beginningOf(word: string, length: number): string {
  return word.length <= length ? word : [...word].slice(0, length).join('');
}

/** Whether each word of a query is the beginning of a word of the record. */
export function matchesWords(query: readonly string[], words: readonly string[]): boolean {
  return query.every((wanted) => words.some((word) => word.startsWith(wanted)));
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
