import type { Filter, RecordTable, SearchFilter } from '../../../../application/ports/list-query.js';
import type { IdRange } from '../../../../application/search/id-range.js';
import {
  beginningOf,
  decidingWords,
  matchesText,
  recordText,
} from '../../../../application/search/tokenizer.js';
import type { Id } from '../../../../domain/record.js';
import { AdaptiveBatchSize, type Checkpoints } from '../connection/adaptive-batch-size.js';
import type { Reader } from '../connection/connection.js';
import { idsOf, type Sql, sql } from '../sql/schema.js';
import { IdSet } from './id-set.js';
import { BLOCK_IDS, blockMark, INDEXED_LENGTH, unindexedIds } from './index.js';

/** How many blocks a search reads in a turn. The first one it reads in the turn of the request. */
const BLOCKS = { first: 4, min: 1, max: 64 };
const FIRST_TURN = 1;

/** A block that takes longer has many matching records. Then its words are looked up first, and it is read alone. */
const SLOW_MS = 0.2;

/**
 * The blocks that one statement reads if few of their records match. It is faster than one statement a block; more
 * blocks gain little, and take long if many of their records match after all.
 */
const JOINED_BLOCKS = 4;

/**
 * If one word of a query begins more words of a block, FTS5 gets it as a prefix. Else it gets the words themselves: it
 * reads their records one by one, instead of merging those of the whole prefix before.
 */
const MAX_TERMS = 4;

/** The characters of records that are read in a turn, one record at least, and those that reading any record counts as. */
const MAX_CHARACTERS = 32_768;
const RECORD_CHARACTERS = 256;

/** What is searched, and among which ids in which order. */
export interface WordQuery {
  /** The words that decide. */
  readonly words: readonly string[];
  readonly ids: IdRange;
  readonly descending: boolean;
}

/** Returns all words that decide a search; undefined if the filters search none. */
export function searchedWords(filters: readonly Filter[]): readonly string[] | undefined {
  const searches = filters.filter((filter): filter is SearchFilter => filter.operator === 'search');
  const words = decidingWords(searches.flatMap((search) => search.words));
  return words.length === 0 ? undefined : words;
}

/** Whether the index alone decides: it knows all records, and every word of the query at its whole length. */
export function hasIndex(reader: Reader, table: RecordTable, words: readonly string[]): boolean {
  return !mayOvermatch(words) && unindexedIds(reader, table) === undefined;
}

/** The beginnings of words by which the index finds records. */
function indexedWords(words: readonly string[]): readonly string[] {
  return decidingWords(words.map((word) => beginningOf(word, INDEXED_LENGTH)));
}

/** Whether a record that the index finds may lack a word. */
function mayOvermatch(words: readonly string[]): boolean {
  return indexedWords(words).join() !== words.join();
}

/** Consecutive blocks that one statement reads. */
interface Blocks extends IdRange {
  /** Whether the blocks before took long. */
  readonly isSlow: boolean;
}

/** Finds the records of a table that have all words of a query, block by block in the order of their ids. */
export class WordSearch {
  private readonly indexed: readonly string[];

  constructor(
    private readonly reader: Reader,
    private readonly table: RecordTable,
    private readonly query: WordQuery,
  ) {
    this.indexed = indexedWords(query.words);
  }

  /**
   * Returns the blocks with records, in their order, each when it is its turn.
   * @throws AppError `query_too_expensive`
   */
  async *blocks(time: Checkpoints): AsyncGenerator<Blocks, void, void> {
    const { ids, descending } = this.query;
    const size = new AdaptiveBatchSize(time, 1, BLOCKS, FIRST_TURN);
    let left = FIRST_TURN;
    for (let { low, high } = ids; ; ) {
      const id = this.firstId({ low, high });
      if (id === undefined) return;
      if (left <= 0) left = await size.next();
      // The first block counts as slow: often it fills the page.
      const isSlow = size.msPerRow > SLOW_MS;
      const count = isSlow ? 1 : JOINED_BLOCKS;
      const block = id - (id % BLOCK_IDS);
      const first = descending ? block - (count - 1) * BLOCK_IDS : block;
      const end = first + count * BLOCK_IDS;
      left -= count;
      yield { low: Math.max(low, first), high: Math.min(high, end - 1), isSlow };
      if (descending) high = first - 1;
      else low = end;
    }
  }

  private firstId({ low, high }: IdRange): Id | undefined {
    const order = this.query.descending ? 'id DESC' : 'id';
    const text = `SELECT id FROM ${this.table.name} WHERE id BETWEEN ? AND ? ORDER BY ${order} LIMIT 1`;
    return this.reader.read(text, (statement) => statement.get([low, high]) as [Id] | undefined)?.[0];
  }

  /**
   * A statement of the ids in some blocks that the index finds, in their order. Its last parameter is a limit.
   * @returns undefined if no record has all words
   */
  matchingIdsSql({ low, high, isSlow }: Blocks): Sql | undefined {
    const { name } = this.table;
    const matches: string[] = [];
    for (let id = low - (low % BLOCK_IDS); id <= high; id += BLOCK_IDS) {
      const match = this.ftsQuery(blockMark(id), isSlow);
      if (match !== undefined) matches.push(`(${match})`);
    }
    if (matches.length === 0) return undefined;
    return sql(
      `SELECT rowid AS id FROM ${name}_words WHERE ${name}_words MATCH ? AND rowid BETWEEN ? AND ?
        ORDER BY rowid${this.query.descending ? ' DESC' : ''} LIMIT ?`,
      matches.join(' OR '),
      low,
      high,
    );
  }

  /** @param isSlow whether to look at the words of the block before: it pays if many records match */
  private ftsQuery(mark: string, isSlow: boolean): string | undefined {
    const parts: string[] = [];
    for (const word of this.indexed) {
      const terms = isSlow ? this.termsFrom(mark + word) : undefined;
      if (terms?.length === 0) return undefined;
      parts.push(terms ? `(${terms.map((term) => `"${term}"`).join(' OR ')})` : `"${mark}${word}"*`);
    }
    return parts.join(' AND ');
  }

  /** The words of a block that begin with a prefix; undefined if there are many. */
  private termsFrom(prefix: string): string[] | undefined {
    const text = `SELECT term FROM ${this.table.name}_terms WHERE term >= ? LIMIT 1`;
    const terms: string[] = [];
    for (let from = prefix; ; ) {
      const row = this.reader.read(text, (statement) => statement.get([from]) as [string] | undefined);
      if (!row?.[0].startsWith(prefix)) return terms;
      if (terms.length === MAX_TERMS) return undefined;
      terms.push(row[0]);
      // No word has this character, so nothing lies between the two.
      from = `${row[0]}\x01`;
    }
  }

  /**
   * Returns all ids in their order, in pieces; also those of records that the index does not know.
   * @throws AppError `query_too_expensive`
   */
  async *find(time: Checkpoints): AsyncGenerator<readonly Id[], void, void> {
    const { words, descending } = this.query;
    const unindexed = unindexedIds(this.reader, this.table);
    const text = `SELECT id FROM ${this.table.name} WHERE id BETWEEN ? AND ? LIMIT ?`;
    for await (const part of this.blocks(time)) {
      const found = this.idsOf(this.matchingIdsSql(part));
      const unknown = this.idsOf(
        unindexed && sql(text, Math.max(part.low, unindexed.low), Math.min(part.high, unindexed.high)),
      );
      if (!mayOvermatch(words) && unknown.length === 0) yield found;
      else {
        const candidates = [...new Set([...found, ...unknown])].sort((a, b) => (descending ? b - a : a - b));
        yield* this.verify(candidates, time);
      }
    }
  }

  /** @param ids of at most {@link JOINED_BLOCKS}, without its limit */
  private idsOf(ids: Sql | undefined): readonly Id[] {
    if (!ids) return [];
    return idsOf(this.reader, sql(ids.text, ...ids.values, JOINED_BLOCKS * BLOCK_IDS));
  }

  /**
   * Returns those of the ids whose records have all words, in pieces.
   * @throws AppError `query_too_expensive`
   */
  async *verify(ids: readonly Id[], time: Checkpoints): AsyncGenerator<readonly Id[], void, void> {
    const text = `SELECT fields FROM ${this.table.name} WHERE id = ?`;
    let found: Id[] = [];
    let characters = 0;
    for (const id of ids) {
      const [fields] = this.reader.read(text, (statement) => statement.get([id]) as [string]);
      if (matchesText(this.query.words, recordText(this.table, JSON.parse(fields)))) found.push(id);
      characters += fields.length + RECORD_CHARACTERS;
      if (characters < MAX_CHARACTERS) continue;
      yield found;
      await time.checkpoint();
      found = [];
      characters = 0;
    }
    yield found;
  }

  /** @throws AppError `query_too_expensive` */
  async collect(time: Checkpoints): Promise<IdSet> {
    const all = new IdSet();
    for await (const ids of this.find(time)) for (const id of ids) all.add(id);
    return all;
  }
}
