import type { IdRange } from '../../../application/records/id-range.js';
import type { RecordTable } from '../../../application/records/list-query.js';
import { matchesWords, recordWords } from '../../../application/records/search-words.js';
import type { StoredRecord } from '../../../application/records/stored-record.js';
import { partitionPoint } from '../../../application/records/top-n.js';
import type { Id } from '../../../domain/record.js';

/** The consecutive ids of a block. */
const BLOCK_IDS = 1_024;
/** A block with more written records than this is indexed anew by the next search. */
const MAX_WRITTEN = 256;
/** What a look into the index of a block costs, and what making it costs, if reading one record costs 1. */
const LOOK_COST = 16;
const INDEXING_COST = 4 * BLOCK_IDS;

/** The records of one block that a search finds. */
export interface FoundInBlock<Fields> {
  /** In the order of reading, as they were when the block was searched. */
  readonly records: readonly StoredRecord<Fields>[];
  /** In records that could have been read in the same time. */
  readonly cost: number;
}

/**
 * Finds the records of a table by words. A search that needs the words of a block makes a sorted list of them; a write
 * only notes its id. So a write costs next to nothing, and each search reads the few written records one by one.
 */
export class WordIndex<Fields> {
  private readonly blocks = new Map<number, Block>();

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
    block.written.set(id - number * BLOCK_IDS, undefined);
    if (block.written.size > MAX_WRITTEN) this.blocks.delete(number);
  }

  /** Searches one block after another, each when it is asked for. Records may be written in between. */
  *find(
    words: readonly string[],
    { low, high }: IdRange,
    isAscending: boolean,
  ): Generator<FoundInBlock<Fields>> {
    // Long words are rare: a block without the first needs no look at the others.
    const rareFirst = words.toSorted((a, b) => b.length - a.length);
    let next: Id | undefined = isAscending ? low : high;
    while (next !== undefined) {
      const id = this.nearestId(next, isAscending);
      if (id === undefined || id < low || id > high) return;
      const number = Math.floor(id / BLOCK_IDS);
      const base = number * BLOCK_IDS;
      const isKnown = this.blocks.has(number);
      const found = this.findInBlock(number, rareFirst).filter(({ id }) => id >= low && id <= high);
      yield {
        records: isAscending ? found : found.reverse(),
        cost: found.length + LOOK_COST + (isKnown ? 0 : INDEXING_COST),
      };
      next = isAscending ? base + BLOCK_IDS : base - 1;
    }
  }

  /** The first id of a record that is not before this one, in the order of reading. */
  private nearestId(id: Id, isAscending: boolean): Id | undefined {
    if (isAscending) return this.ids[partitionPoint(this.ids, (other) => other < id)];
    return this.ids[partitionPoint(this.ids, (other) => other <= id) - 1];
  }

  private findInBlock(number: number, words: readonly string[]): StoredRecord<Fields>[] {
    const base = number * BLOCK_IDS;
    let block = this.blocks.get(number);
    if (!block) {
      block = new Block(this.wordsIn(base));
      this.blocks.set(number, block);
    }
    const found = block.find(words);
    for (const [offset, known] of block.written) {
      const own = known ?? this.wordsOf(base + offset);
      if (!known) block.written.set(offset, own);
      if (matchesWords(words, own)) found.add(offset);
      else found.remove(offset);
    }
    return found.toIds(base).flatMap((id) => this.records.get(id) ?? []);
  }

  /** The words of a record; none if it was removed. */
  private wordsOf(id: Id): readonly string[] {
    const record = this.records.get(id);
    return record ? recordWords(this.table, record.fields as object) : [];
  }

  private *wordsIn(base: Id): Generator<readonly [offset: number, words: readonly string[]]> {
    for (let at = partitionPoint(this.ids, (id) => id < base); at < this.ids.length; at++) {
      const id = this.ids[at] as Id;
      if (id >= base + BLOCK_IDS) return;
      yield [id - base, this.wordsOf(id)];
    }
  }
}

/** The words of the records in one block of ids. */
class Block {
  /** The records that were written since, with their words once a search has needed them. */
  readonly written = new Map<number, readonly string[] | undefined>();
  /** The words in order of their UTF-16 units, one a line: an array of texts would take several times the memory. */
  private readonly text: string;
  /** Where each word starts, and behind the last where the next one would. */
  private readonly starts: Uint32Array;
  /** The records of all words, those of the first word first. */
  private readonly offsets: Uint16Array;
  /** For each word, how many offsets come before its own; and behind the last, how many there are. */
  private readonly counts: Uint32Array;

  constructor(records: Iterable<readonly [offset: number, words: readonly string[]]>) {
    const byWord = new Map<string, number[]>();
    let total = 0;
    for (const [offset, words] of records) {
      for (const word of words) {
        const offsets = byWord.get(word);
        if (offsets) offsets.push(offset);
        else byWord.set(word, [offset]);
      }
      total += words.length;
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

  remove(offset: number): void {
    this.bits[offset >>> 5] = (this.bits[offset >>> 5] ?? 0) & ~(1 << (offset & 31));
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
