import { compareText } from '../../domain/text.js';
import type { Filter, RecordTable } from '../ports/list-query.js';

/** The length of a word, in code points. A longer word of a record is found by its beginning. */
export const MAX_WORD_LENGTH = 64;

/** How many different words of a record count, in the order of its fields. It is not found by any further one. */
export const MAX_WORDS = 8_000;

const ASCII = /^[\x00-\x7f]*$/;
const ASCII_WORDS = /[a-z0-9]+/g;

/** Marks that many people leave out when they type: accents, Hebrew points, Arabic vowels. */
const OPTIONAL_MARKS = /(?=\p{M})[\p{Script=Inherited}\p{Script=Hebrew}\p{Script=Arabic}]/gu;

/** Characters within words that nobody types: soft hyphens, those of no width, and the tatweel that stretches a word. */
const UNSEEN = /[\u{ad}\u{200b}-\u{200d}\u{2060}\u{feff}\u{640}]/gu;

/** Letters without a decomposition in Unicode, and what people type in their place; and the sigma that ends a word. */
const FOLDED: Readonly<Record<string, string>> = {
  ς: 'σ',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  ı: 'i',
  ß: 'ss',
};
const FOLDED_LETTERS = new RegExp(`[${Object.keys(FOLDED).join('')}]`, 'g');

/** Scripts that write no spaces between words. */
const UNSPACED = `[${['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => String.raw`\p{scx=${script}}`)
  .join('')}]`;
const CHARACTER = String.raw`[\p{L}\p{N}\p{M}]`;
const WORDS = new RegExp(`[${CHARACTER}--${UNSPACED}]+|[${CHARACTER}&&${UNSPACED}]+`, 'gv');
const UNSPACED_START = new RegExp(`^${UNSPACED}`, 'u');

interface Word {
  readonly text: string;
  /** Whether it is a run of a script without spaces, in which every character begins a word. */
  readonly isUnspaced: boolean;
}

/**
 * Splits a text into words, in its order. Upper and lower case, marks such as accents, and the spelling of letters such
 * as `ø` make no difference.
 */
function splitWords(text: string): Word[] {
  if (ASCII.test(text))
    return (text.toLowerCase().match(ASCII_WORDS) ?? []).map((word) => ({ text: word, isUnspaced: false }));
  const lowerCase = text.normalize('NFKD').replaceAll(OPTIONAL_MARKS, '').toLowerCase().replaceAll(UNSEEN, '');
  const words = lowerCase.replaceAll(FOLDED_LETTERS, (letter) => FOLDED[letter] ?? letter).match(WORDS) ?? [];
  return words.map((text) => ({ text, isUnspaced: UNSPACED_START.test(text) }));
}

/** Returns the words of a query, in its order. Each must be the beginning of a word of the record. */
export function queryWords(query: string): string[] {
  return splitWords(query).map(({ text }) => text);
}

/**
 * Returns the words by which a record is found, each once: at most {@link MAX_WORDS}.
 * @param maxLength the code points of a word that count, at most {@link MAX_WORD_LENGTH}
 * @returns no words if the table is not searchable
 */
export function recordWords(table: Searched, fields: object, maxLength = MAX_WORD_LENGTH): string[] {
  const words = new Set<string>();
  for (const { text, isUnspaced, count } of countedWords(table, fields)) {
    if (!isUnspaced) words.add(beginningOf(text, maxLength));
    else for (const word of suffixes(text, maxLength, count)) words.add(word);
  }
  return [...words];
}

/** The beginning of what starts at each of the first characters of a run. */
function* suffixes(run: string, maxLength: number, count: number): Generator<string, void, void> {
  let end = 0;
  for (let from = 0, at = 0, length = 0; at < count; from += unitsAt(run, from), at++, length--) {
    for (; end < run.length && length < maxLength; length++) end += unitsAt(run, end);
    yield run.slice(from, end);
  }
}

/** The UTF-16 units of the character at an index. */
function unitsAt(text: string, at: number): 1 | 2 {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}

/** The words of a record in one text, for {@link matchesText}. */
export interface RecordText {
  /**
   * The text. A run of a script without spaces is in it once, so it is hardly longer than the texts of the record, whose
   * words may take many times their space.
   */
  readonly text: string;
  /** The index at which no more words begin that count. */
  readonly end: number;
}

export function recordText(table: Searched, fields: object): RecordText {
  let text = '';
  let end = 0;
  for (const word of countedWords(table, fields)) {
    end = text.length + WORD_START.length + beginningOf(word.text, word.count).length;
    text += WORD_START + word.text;
  }
  return { text, end };
}

type Searched = Pick<RecordTable, 'searched'>;

/** No word has this character. */
const WORD_START = '\n';

interface CountedWord extends Word {
  /** How many characters of the run begin a word that counts, from the first on; 1 if it is no run. */
  readonly count: number;
}

/** The words of a record that count, in its order. */
function* countedWords({ searched }: Searched, fields: object): Generator<CountedWord, void, void> {
  const different = new DifferentWords();
  for (const text of searchedTexts(searched, fields))
    for (const word of splitWords(ASCII.test(text) ? text : withoutRepeats(text))) {
      const count = different.add(word);
      if (count > 0) yield { text: word.text, isUnspaced: word.isUnspaced, count };
      if (different.left === 0) return;
    }
}

/** Counts different words at their whole length. */
class DifferentWords {
  /** How many more words count. */
  left = MAX_WORDS;
  /** All words and runs so far. */
  private readonly known = new Set<string>();
  /**
   * The tree of the words in runs, each from its last character to its first: a word is a node, and its parent is the
   * word that begins one character later. The key is made of the number of the parent, 0 at the root, and of the
   * character.
   */
  private readonly nodes = new Map<number, number>();

  /** @returns how many words are new and count: of a run, those that begin at its first characters */
  add({ text, isUnspaced }: Word): number {
    if (this.known.has(text)) return 0;
    this.known.add(text);
    const count = isUnspaced ? this.addRun(text) : 1;
    this.left -= count;
    return count;
  }

  /** @returns how many of its words no earlier run has, at most as many as still count */
  private addRun(run: string): number {
    const characters = Array.from(run, (character) => character.codePointAt(0) ?? 0);
    let node = 0;
    let count = 0;
    for (const character of characters.reverse()) {
      if (count === this.left) break;
      const key = node * 0x110000 + character;
      const known = this.nodes.get(key);
      node = known ?? this.nodes.size + 1;
      if (known !== undefined) continue;
      this.nodes.set(key, node);
      count++;
    }
    return count;
  }
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

/** Whether two versions of a record may have different words. */
export function mayDifferInWords({ searched }: Searched, before: object, after: object): boolean {
  const fieldOf = (fields: object, name: string) => (fields as Readonly<Record<string, unknown>>)[name];
  return searched.some((name) => {
    const [old, value] = [fieldOf(before, name), fieldOf(after, name)];
    return old !== value && JSON.stringify(old) !== JSON.stringify(value);
  });
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
export function matchesText(query: readonly string[], { text, end }: RecordText): boolean {
  return query.every((word) => {
    const at = text.indexOf(soughtText(word));
    return at >= 0 && at < end;
  });
}

/** What a {@link RecordText} has, before its end, if a word of the record begins with this word of a query. */
export function soughtText(word: string): string {
  return UNSPACED_START.test(word) ? word : WORD_START + word;
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

/** Returns all words that decide a search; undefined if the filters search none. */
export function searchedWords(filters: readonly Filter[]): readonly string[] | undefined {
  const searches = filters.filter((filter) => filter.operator === 'search');
  return searches.length === 0 ? undefined : decidingWords(searches.flatMap(({ words }) => words));
}
