import type { Filter, RecordTable, SearchFilter } from '../../../../application/records/list-query.js';
import type { IdRange } from '../../../../application/search/id-range.js';
import {
  beginningOf,
  decidingWords,
  matchesText,
  recordText,
} from '../../../../application/search/tokenizer.js';
import type { Id } from '../../../../domain/record.js';
import type { Reader } from '../connection/connection.js';
import { AdaptiveBatchSize, type Checkpoints } from '../lists/adaptive-batch-size.js';
import { type Sql, sql } from '../records/schema.js';
import { BLOCK_IDS, blockMark, INDEXED_LENGTH, unindexedIds } from './index.js';

/** How many blocks a search reads in a turn. */
const BLOCKS = { first: 4, min: 1, max: 64 };

/**
 * The blocks that one statement reads if few of their records match. It is faster than one statement a block; more
 * blocks gain little, and take long if many of their records match after all.
 */
const JOINED_BLOCKS = 4;

/**
 * FTS5 merges the records of all words that begin with a short word, which are many. One statement looks up at most so
 * many of them.
 */
const MAX_SHORT_WORDS = 2;
const SHORT_LENGTH = 2;

/**
 * If one word of a query begins more words of a block, FTS5 gets it as a prefix. Else it gets the words themselves: it
 * reads their records one by one, instead of merging those of the whole prefix before.
 */
const MAX_TERMS = 4;

/** The characters of records that are read in a turn, one record at least: some milliseconds. */
const MAX_CHARACTERS = 32_768;

/** Returns all words that decide a search; undefined if the filters search none. */
export function searchedWords(filters: readonly Filter[]): readonly string[] | undefined {
  const searches = filters.filter((filter): filter is SearchFilter => filter.operator === 'search');
  const words = decidingWords(searches.flatMap((search) => search.words));
  return words.length === 0 ? undefined : words;
}

export function withoutSearch(filters: readonly Filter[]): Exclude<Filter, SearchFilter>[] {
  return filters.filter((filter) => filter.operator !== 'search');
}

/** Finds the records of a table that have all words of a query, block by block in the order of their ids. */
export class WordSearch {
  /** The words by the statements that look them up. */
  private readonly groups: readonly (readonly string[])[];
  /** Whether a record that the index finds may lack a word. */
  private readonly isApproximate: boolean;

  /** @param words from {@link searchedWords} */
  constructor(
    private readonly table: RecordTable,
    private readonly words: readonly string[],
  ) {
    const indexed = decidingWords(words.map((word) => beginningOf(word, INDEXED_LENGTH)));
    this.groups = groupsOf(indexed);
    this.isApproximate = indexed.join() !== words.join();
  }

  /** Whether the index alone decides: it knows all records, and every word of the query at its whole length. */
  isServed(reader: Reader): boolean {
    return !this.isApproximate && unindexedIds(reader, this.table) === undefined;
  }

  /** Whether one statement finds the records of a part. */
  isSimple(reader: Reader): boolean {
    return this.groups.length === 1 && this.isServed(reader);
  }

  /**
   * Parts of a range, in its order: a block, or some blocks if few of their records match. Parts without records are
   * left out. Each part is asked for when it is its turn.
   */
  *parts(
    reader: Reader,
    { low, high }: IdRange,
    descending: boolean,
    turns: BlockTurns,
  ): Generator<IdRange, void, void> {
    const text = `SELECT id FROM ${this.table.name} WHERE id BETWEEN ? AND ?
      ORDER BY id${descending ? ' DESC' : ''} LIMIT 1`;
    let rest: IdRange = { low, high };
    for (;;) {
      const { low: from, high: to } = rest;
      const row = reader.read(text, (statement) => statement.get([from, to]) as [Id] | undefined);
      if (!row) return;
      const further = (turns.isSlow ? 0 : JOINED_BLOCKS - 1) * BLOCK_IDS;
      const first = row[0] - (row[0] % BLOCK_IDS) - (descending ? further : 0);
      const last = first + BLOCK_IDS - 1 + further;
      yield { low: Math.max(from, first), high: Math.min(to, last) };
      rest = descending ? { low, high: first - 1 } : { low: last + 1, high };
    }
  }

  /**
   * A statement of the ids in a part that the index finds, in their order.
   * @param words all words of a simple search
   * @returns undefined if no record of the part has all words
   */
  inPart(
    reader: Reader,
    { low, high }: IdRange,
    descending: boolean,
    turns: BlockTurns,
    words = this.groups[0] ?? [],
  ): Sql | undefined {
    const { name } = this.table;
    const blocks: string[] = [];
    for (let id = low - (low % BLOCK_IDS); id <= high; id += BLOCK_IDS) {
      turns.count();
      const match = this.matchIn(reader, blockMark(id), words, turns.isSlow);
      if (match !== undefined) blocks.push(`(${match})`);
    }
    if (blocks.length === 0) return undefined;
    return sql(
      `SELECT rowid AS id FROM ${name}_words WHERE ${name}_words MATCH ? AND rowid BETWEEN ? AND ?
        ORDER BY rowid${descending ? ' DESC' : ''} LIMIT ?`,
      blocks.join(' OR '),
      low,
      high,
    );
  }

  /**
   * The full-text query of a block.
   * @param isSlow whether to look at the words of the block before: it pays if many records match
   */
  private matchIn(
    reader: Reader,
    mark: string,
    words: readonly string[],
    isSlow: boolean,
  ): string | undefined {
    const parts: string[] = [];
    for (const word of words) {
      const terms = isSlow ? termsFrom(reader, this.table.name, mark + word) : undefined;
      if (terms?.length === 0) return undefined;
      parts.push(terms ? `(${terms.map((term) => `"${term}"`).join(' OR ')})` : `"${mark}${word}"*`);
    }
    return parts.join(' AND ');
  }

  /**
   * All ids of a range, in their order, in pieces; also those of records that the index does not know.
   * @param reader reads a snapshot, so that no record is indexed while the search passes it
   * @throws AppError `query_too_expensive`
   */
  async *find(
    reader: Reader,
    range: IdRange,
    descending: boolean,
    time: Checkpoints,
  ): AsyncGenerator<readonly Id[], void, void> {
    const unindexed = unindexedIds(reader, this.table);
    const turns = new BlockTurns(time);
    for (const part of this.parts(reader, range, descending, turns)) {
      if (!turns.hasMore) await turns.next();
      let found = idsOf(reader, this.inPart(reader, part, descending, turns));
      for (const words of this.groups.slice(1)) {
        if (found.length === 0) break;
        await turns.next();
        const also = new Set(idsOf(reader, this.inPart(reader, part, descending, turns, words)));
        found = found.filter((id) => also.has(id));
      }
      const unknown = unindexed ? this.idsIn(reader, part, unindexed) : [];
      if (!this.isApproximate && unknown.length === 0) yield found;
      else {
        const candidates = [...new Set([...found, ...unknown])].sort((a, b) => (descending ? b - a : a - b));
        yield* this.check(reader, candidates, time);
      }
    }
  }

  private idsIn(reader: Reader, part: IdRange, { low, high }: IdRange): Id[] {
    const ids = `SELECT id FROM ${this.table.name} WHERE id BETWEEN ? AND ? LIMIT ?`;
    return idsOf(reader, sql(ids, Math.max(low, part.low), Math.min(high, part.high)));
  }

  /**
   * Reads records, and returns the ids of those that have all words, in pieces.
   * @throws AppError `query_too_expensive`
   */
  async *check(
    reader: Reader,
    ids: readonly Id[],
    time: Checkpoints,
  ): AsyncGenerator<readonly Id[], void, void> {
    const pace = new AdaptiveBatchSize(time);
    const text = `SELECT id, fields FROM ${this.table.name} WHERE id IN (SELECT value FROM json_each(?))`;
    for (let at = 0; at < ids.length; ) {
      const count = await pace.next();
      const piece = ids.slice(at, at + count);
      at += count;
      const rows = reader.read(text, (statement) => statement.all([JSON.stringify(piece)]) as [Id, string][]);
      const matching = new Set<Id>();
      let characters = 0;
      for (const [id, fields] of rows) {
        if (matchesText(this.words, recordText(this.table, JSON.parse(fields)))) matching.add(id);
        characters += fields.length;
        if (characters < MAX_CHARACTERS) continue;
        await time.checkpoint();
        characters = 0;
      }
      yield piece.filter((id) => matching.has(id));
    }
  }
}

function groupsOf(words: readonly string[]): string[][] {
  const short = words
    .filter((word) => [...word].length <= SHORT_LENGTH)
    .sort((a, b) => b.length - a.length)
    .slice(MAX_SHORT_WORDS);
  const groups = [words.filter((word) => !short.includes(word))];
  while (short.length > 0) groups.push(short.splice(0, MAX_SHORT_WORDS));
  return groups;
}

/** A prefix of more records takes longer than the look at the words of its block. */
const SLOW_MS = 0.2;

/** Counts the blocks that a search reads in its turns. */
export class BlockTurns {
  private readonly pace: AdaptiveBatchSize;
  /** The first block is read in the turn of the request. */
  private left = 1;

  constructor(time: Checkpoints) {
    this.pace = new AdaptiveBatchSize(time, 1, BLOCKS, this.left);
  }

  get hasMore(): boolean {
    return this.left > 0;
  }

  /** Whether the last blocks took long. The first block counts as slow: often it fills the page. */
  get isSlow(): boolean {
    return this.pace.msPerRow > SLOW_MS;
  }

  count(): void {
    this.left--;
  }

  /** @throws AppError `query_too_expensive` */
  async next(): Promise<void> {
    this.left = await this.pace.next();
  }
}

/** The words of a block that begin with a prefix; undefined if there are many. */
function termsFrom(reader: Reader, table: string, prefix: string): string[] | undefined {
  const text = `SELECT term FROM ${table}_terms WHERE term >= ? LIMIT 1`;
  const terms: string[] = [];
  for (let from = prefix; ; ) {
    const row = reader.read(text, (statement) => statement.get([from]) as [string] | undefined);
    if (!row?.[0].startsWith(prefix)) return terms;
    if (terms.length === MAX_TERMS) return undefined;
    terms.push(row[0]);
    // No word has this character, so nothing lies between the two.
    from = `${row[0]}\x01`;
  }
}

function idsOf(reader: Reader, ids: Sql | undefined): Id[] {
  if (!ids) return [];
  const [text] = reader.read(
    `SELECT group_concat(id) FROM (${ids.text})`,
    (statement) => statement.get([...ids.values, JOINED_BLOCKS * BLOCK_IDS]) as [string | null],
  );
  return text === null ? [] : (JSON.parse(`[${text}]`) as Id[]);
}
