import type { RecordTable } from '../../../application/records/list-query.js';
import type { StoredRecord } from '../../../application/records/stored-record.js';
import { partitionPoint } from '../../../application/records/top-n.js';
import type { IdRange } from '../../../application/search/id-range.js';
import {
  matchesText,
  type RecordText,
  recordText,
  recordWords,
  searchedLength,
} from '../../../application/search/tokenizer.js';
import type { Id } from '../../../domain/record.js';

/** The consecutive ids of a block. */
const BLOCK_IDS = 256;
/** A block with more written records than this is indexed anew by the next search. */
const MAX_WRITTEN = 64;
/**
 * Making the index of a block ends when the words of its records have so many characters, so that it takes few
 * milliseconds. Further records are unlisted: a search reads their texts. So are those of longer words each: they may
 * take 64 times the space of their text.
 */
const MAX_CHARACTERS = 65_536;
const MAX_RECORD_CHARACTERS = 4_096;
/** A word counts as this many characters more than it has. */
const WORD_CHARACTERS = 4;

/**
 * Costs, if reading one record costs 1: of a look into the index of a block; of making it; of the text of a record, and
 * of a look at it, by the characters that cost 1.
 */
const LOOK_COST = 4;
const INDEXING_COST = 1_024;
const CHARACTERS_READ = 16;
const CHARACTERS_SEARCHED = 1_024;
/** A search yields to its caller at least so often. */
const MAX_COST = 1_000;

/** Some records that a search finds. */
export interface FoundRecords<Fields> {
  /** In the order of reading, as they were when they were searched. */
  readonly records: readonly StoredRecord<Fields>[];
  /** What the search has cost since the last ones, in records that could have been read in the same time. */
  readonly cost: number;
}

/**
 * Finds the records of a table by words. A search that needs the words of a block makes a sorted list of them; a write
 * only notes its id. So a write costs next to nothing, and each search reads the few written records one by one.
 */
export class WordIndex<Fields> {
  private readonly blocks = new Map<number, Block>();
  /** The texts of records that were searched one by one. A write replaces a record, so its text never changes. */
  private readonly texts = new WeakMap<StoredRecord<Fields>, RecordText>();

  /**
   * @param records the records of the table, which change
   * @param ids their ids, ascending, which change too
   */
  constructor(
    private readonly table: RecordTable,
    private readonly records: ReadonlyMap<Id, StoredRecord<Fields>>,
    private readonly ids: readonly Id[],
  ) {}

  /** Notes that a record was inserted, replaced or removed. */
  noteWrite(id: Id): void {
    const number = Math.floor(id / BLOCK_IDS);
    const block = this.blocks.get(number);
    if (!block) return;
    block.noteWrite(id - number * BLOCK_IDS);
    if (block.written > MAX_WRITTEN) this.blocks.delete(number);
  }

  /** Searches piece by piece, each when it is asked for. Records may be written in between. */
  *find(
    words: readonly string[],
    { low, high }: IdRange,
    isAscending: boolean,
  ): Generator<FoundRecords<Fields>> {
    // Long words are rare: a block without the first needs no look at the others.
    const rareFirst = words.toSorted((a, b) => b.length - a.length);
    let next: Id | undefined = isAscending ? low : high;
    while (next !== undefined) {
      const id = this.nearestId(next, isAscending);
      if (id === undefined || id < low || id > high) return;
      const number = Math.floor(id / BLOCK_IDS);
      const base = number * BLOCK_IDS;
      const within = { low: Math.max(low, base), high: Math.min(high, base + BLOCK_IDS - 1) };
      yield* this.findInBlock(number, rareFirst, within, isAscending);
      next = isAscending ? base + BLOCK_IDS : base - 1;
    }
  }

  /** The first id of a record that is not before this one, in the order of reading. */
  private nearestId(id: Id, isAscending: boolean): Id | undefined {
    if (isAscending) return this.ids[partitionPoint(this.ids, (other) => other < id)];
    return this.ids[partitionPoint(this.ids, (other) => other <= id) - 1];
  }

  private *findInBlock(
    number: number,
    words: readonly string[],
    { low, high }: IdRange,
    isAscending: boolean,
  ): Generator<FoundRecords<Fields>> {
    const base = number * BLOCK_IDS;
    let cost = LOOK_COST;
    let block = this.blocks.get(number);
    if (!block) {
      block = new Block(this.wordsIn(base));
      this.blocks.set(number, block);
      cost += INDEXING_COST;
    }
    // All that the index knows is read at once. The unlisted records are read one by one, each as it is then.
    const unlisted = new Set(block.unlisted);
    const listed = block
      .find(words)
      .toIds(base)
      .map((id) => [id, this.records.get(id)] as const)
      .filter(([id]) => !unlisted.has(id - base));
    const others = [...unlisted].map((offset) => [base + offset, undefined] as const);
    const candidates = [...listed, ...others]
      .filter(([id]) => id >= low && id <= high)
      .sort(([a], [b]) => (isAscending ? a - b : b - a));
    let records: StoredRecord<Fields>[] = [];
    for (const [id, known] of candidates) {
      const record = known ?? this.records.get(id);
      if (!record) continue;
      const [isFound, ownCost] = known ? [true, 1] : this.hasWords(record, words);
      if (isFound) records.push(record);
      cost += ownCost;
      if (known || cost < MAX_COST) continue;
      yield { records, cost };
      records = [];
      cost = 0;
    }
    yield { records, cost };
  }

  /** Whether a record has the words, and what finding it out has cost. */
  private hasWords(record: StoredRecord<Fields>, words: readonly string[]): [isFound: boolean, cost: number] {
    const fields = record.fields as object;
    let cost = 1;
    let text = this.texts.get(record);
    if (text === undefined) {
      text = recordText(this.table, fields);
      this.texts.set(record, text);
      cost += searchedLength(this.table, fields) / CHARACTERS_READ;
    }
    return [matchesText(words, text), cost + (words.length * text.text.length) / CHARACTERS_SEARCHED];
  }

  /** The words of the records of a block; undefined for a record that is better read itself. */
  private *wordsIn(base: Id): Generator<readonly [offset: number, words: readonly string[] | undefined]> {
    let left = MAX_CHARACTERS;
    for (let at = partitionPoint(this.ids, (id) => id < base); at < this.ids.length; at++) {
      const id = this.ids[at] as Id;
      if (id >= base + BLOCK_IDS) return;
      const fields = this.records.get(id)?.fields as object;
      const isShort = searchedLength(this.table, fields) <= Math.min(left, MAX_RECORD_CHARACTERS);
      const words = isShort ? recordWords(this.table, fields) : [];
      const characters = charactersOf(words);
      left -= characters;
      yield [id - base, isShort && characters <= MAX_RECORD_CHARACTERS ? words : undefined];
    }
  }
}

function charactersOf(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + word.length + WORD_CHARACTERS, 0);
}

/** The words of the records in one block of ids. */
class Block {
  /** The records that the index does not know, or not as they are. */
  readonly unlisted = new Set<number>();
  /** How many of them the index knew before they were written. */
  written = 0;
  /** The words in order of their UTF-16 units, one a line: an array of texts would take several times the memory. */
  private readonly text: string;
  /** Where each word starts, and behind the last where the next one would. */
  private readonly starts: Uint32Array;
  /** The records of all words, those of the first word first. */
  private readonly offsets: Uint16Array;
  /** For each word, how many offsets come before its own; and behind the last, how many there are. */
  private readonly counts: Uint32Array;

  constructor(records: Iterable<readonly [offset: number, words: readonly string[] | undefined]>) {
    const byWord = new Map<string, number[]>();
    let total = 0;
    for (const [offset, words] of records) {
      if (!words) this.unlisted.add(offset);
      for (const word of words ?? []) {
        const offsets = byWord.get(word);
        if (offsets) offsets.push(offset);
        else byWord.set(word, [offset]);
      }
      total += words?.length ?? 0;
    }
    const words = [...byWord.keys()].sort();
    this.text = words.join('\n');
    this.starts = new Uint32Array(words.length + 1);
    this.counts = new Uint32Array(words.length + 1);
    this.offsets = new Uint16Array(total);
    for (const [at, word] of words.entries()) {
      const own = byWord.get(word) ?? [];
      this.offsets.set(own, this.counts[at]);
      this.counts[at + 1] = (this.counts[at] ?? 0) + own.length;
      this.starts[at + 1] = (this.starts[at] ?? 0) + word.length + 1;
    }
  }

  noteWrite(offset: number): void {
    if (!this.unlisted.has(offset)) this.written++;
    this.unlisted.add(offset);
  }

  /** The records that have, for each of the words, a word that begins with it. */
  find(words: readonly string[]): Offsets {
    const [first = '', ...others] = words;
    const found = this.findWord(first);
    for (const word of others) {
      if (found.isEmpty) break;
      found.keep(this.findWord(word));
    }
    return found;
  }

  private findWord(word: string): Offsets {
    const found = new Offsets();
    const { text, starts, counts, offsets } = this;
    for (let at = this.firstNotBefore(word); at + 1 < starts.length; at++) {
      if (!text.startsWith(word, starts[at])) break;
      const end = counts[at + 1] ?? 0;
      for (let i = counts[at] ?? 0; i < end; i++) found.add(offsets[i] ?? 0);
    }
    return found;
  }

  /** The index of the first word that does not come before this one; binary search. */
  private firstNotBefore(word: string): number {
    let [low, high] = [0, this.starts.length - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.isBefore(middle, word)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private isBefore(at: number, word: string): boolean {
    const start = this.starts[at] ?? 0;
    const length = (this.starts[at + 1] ?? 0) - 1 - start;
    for (let i = 0; i < word.length; i++) {
      if (i === length) return true;
      const difference = this.text.charCodeAt(start + i) - word.charCodeAt(i);
      if (difference !== 0) return difference < 0;
    }
    return false;
  }
}

/** A set of offsets of ids in a block, one bit each. */
class Offsets {
  private readonly bits = new Uint32Array(BLOCK_IDS / 32);

  add(offset: number): void {
    this.bits[offset >>> 5] = (this.bits[offset >>> 5] ?? 0) | (1 << (offset & 31));
  }

  get isEmpty(): boolean {
    return this.bits.every((group) => group === 0);
  }

  /** Removes what the others do not have. */
  keep({ bits: others }: Offsets): void {
    for (const at of this.bits.keys()) this.bits[at] = (this.bits[at] ?? 0) & (others[at] ?? 0);
  }

  /** The ids, ascending. */
  toIds(base: Id): Id[] {
    const ids: Id[] = [];
    for (const [at, group] of this.bits.entries())
      for (let rest = group; rest !== 0; rest &= rest - 1)
        ids.push(base + at * 32 + (31 - Math.clz32(rest & -rest)));
    return ids;
  }
}
