import type { RecordTable } from '../../../../application/ports/list-query.js';
import type { IdRange } from '../../../../application/records/block-scan.js';
import type { QueryTime } from '../../../../application/records/lists.js';
import {
  beginningOf,
  decidingWords,
  matchesText,
  mayDifferInWords,
  recordText,
  recordWords,
  searchedLength,
} from '../../../../application/search/tokenizer.js';
import type { Id } from '../../../../domain/record.js';
import type { RowReader } from '../connection/connection.js';
import type { Statements } from '../connection/database.js';
import { idsIn, RecordReader } from './records.js';
import { type Sql, sql } from './schema.js';

/**
 * The number of consecutive ids that share a block. FTS5 merges all records of a prefix before it returns the first
 * one: about a millisecond for a block in which every record matches.
 */
export const BLOCK_IDS = 8_192;

/**
 * The code points of a word that the index has. Scripts without spaces have a word for each character, so whole words
 * would take much of the index. Longer words of a query need another look at the records.
 */
const INDEXED_LENGTH = 16;

/**
 * What stands before each word of a block in the index. No mark is the beginning of another one: it starts with its
 * length.
 */
function blockMark(id: Id): string {
  const block = Math.floor(id / BLOCK_IDS).toString(36);
  return block.length + block;
}

/** How many characters of an entry, or of the texts that it is made of, cost as much as one row. */
const ENTRY_CHARACTERS = 1_024;
const TEXT_CHARACTERS = 128;

/**
 * The words of the records of one table, in an FTS5 table without a copy of the text. The id of a record is the rowid
 * of its words. Its methods run in the write that changes the record.
 */
export class WordIndex {
  private readonly sql: ReturnType<typeof statements>;

  constructor(private readonly table: RecordTable) {
    this.sql = statements(table.name);
  }

  /**
   * Returns what the index stores of a record: its words, each behind the mark of its block; undefined if the table
   * cannot be searched.
   */
  entryOf(id: Id, fields: object): string | undefined {
    if (!this.isSearched) return undefined;
    const mark = blockMark(id);
    const words = recordWords(this.table, fields, INDEXED_LENGTH);
    return words.map((word) => mark + word).join(' ');
  }

  /**
   * Stores the entry of a record, and replaces the one before. FTS5 collects the entries of a transaction, and
   * writes them together at its end, or before a statement that may change several rows (`INSERT ... SELECT`, a
   * trigger, `RETURNING`). Such a statement for each record would triple the cost.
   */
  put(statement: Statements, id: Id, entry: string | undefined): void {
    if (entry === undefined) return;
    statement(this.sql.put).run(id, entry);
  }

  /**
   * How many rows cost as much to write as a record with these fields, approximately.
   * @param entry if it is known
   */
  writeCost(fields: object, entry = ''): number {
    const ofTexts = searchedLength(this.table, fields) / TEXT_CHARACTERS;
    return 1 + Math.floor(Math.max(ofTexts, entry.length / ENTRY_CHARACTERS));
  }

  /** Whether a search finds records of the table. The methods of a table without words change nothing. */
  get isSearched(): boolean {
    return this.table.searched.length > 0;
  }

  /** Whether two versions of a record may have different words. */
  hasChanged(before: object, after: object): boolean {
    return mayDifferInWords(this.table, before, after);
  }

  remove(statement: Statements, id: Id): void {
    if (!this.isSearched) return;
    statement(this.sql.remove).run(id);
  }

  /** Removes all entries. */
  clear(statement: Statements): void {
    if (this.isSearched) statement(this.sql.clear).run();
  }
}

function statements(table: string) {
  return {
    // It takes 30 ms for a million records. Without it, each search would pass the deleted words for long.
    clear: `INSERT INTO ${table}_words (${table}_words) VALUES ('delete-all')`,
    put: `INSERT OR REPLACE INTO ${table}_words (rowid, words) VALUES (?, ?)`,
    remove: `DELETE FROM ${table}_words WHERE rowid = ?`,
  };
}

/**
 * The blocks that one statement reads if few of their records match. It is faster than one statement a block; more
 * blocks gain little, and take long if many of their records match after all.
 */
const JOINED_BLOCKS = 4;

/** A block that takes longer has many matching records, so the next one is read alone. */
const SLOW_MS = 0.2;

/** Of records whose words are compared in a turn: how many the first time, and later approximately the most bytes. */
const FIRST_RECORDS = 4;
const MAX_BYTES = 32_768;

/** What is searched, and among which ids in which order. */
export interface WordQuery {
  /** The words that decide. */
  readonly words: readonly string[];
  readonly ids: IdRange;
  readonly descending: boolean;
}

/** The beginnings of words by which the index finds records. */
function indexedWords(words: readonly string[]): readonly string[] {
  return decidingWords(words.map((word) => beginningOf(word, INDEXED_LENGTH)));
}

/** Whether a record that the index finds may lack a word, because the index has only the beginnings of words. */
export function mayOvermatch(words: readonly string[]): boolean {
  return indexedWords(words).join() !== words.join();
}

/** Finds the records of a table that have all words of a query, block by block in the order of their ids. */
export class WordSearch {
  private readonly indexed: readonly string[];

  constructor(
    private readonly reader: RowReader,
    private readonly table: RecordTable,
    private readonly query: WordQuery,
  ) {
    this.indexed = indexedWords(query.words);
  }

  /**
   * Returns ranges of ids with records, in their order, each when it is its turn. What is done with one counts as work of
   * the query.
   * @throws AppError `query_too_expensive`
   */
  async *blocks(time: Pick<QueryTime, 'checkpoint'>): AsyncGenerator<IdRange, void, void> {
    const { ids, descending } = this.query;
    // The first block is read alone: often it fills the page.
    let count = 0;
    for (let { low, high } = ids; ; ) {
      const id = await this.firstId({ low, high });
      if (id === undefined) return;
      count = count === 0 || (await time.checkpoint()) > SLOW_MS * count ? 1 : JOINED_BLOCKS;
      const block = id - (id % BLOCK_IDS);
      const first = descending ? block - (count - 1) * BLOCK_IDS : block;
      const end = first + count * BLOCK_IDS;
      yield { low: Math.max(low, first), high: Math.min(high, end - 1) };
      if (descending) high = first - 1;
      else low = end;
    }
  }

  private async firstId({ low, high }: IdRange): Promise<Id | undefined> {
    const order = this.query.descending ? 'id DESC' : 'id';
    const text = `SELECT id FROM ${this.table.name} WHERE id BETWEEN ? AND ? ORDER BY ${order} LIMIT 1`;
    return (await this.reader.row<[Id]>(sql(text, low, high)))?.[0];
  }

  /** A statement of the ids in a range that the index finds, in their order. Its last parameter is a limit. */
  matchingIdsSql({ low, high }: IdRange): Sql {
    const { name } = this.table;
    const matches: string[] = [];
    for (let id = low - (low % BLOCK_IDS); id <= Math.max(low, high); id += BLOCK_IDS)
      matches.push(`(${this.indexed.map((word) => `"${blockMark(id)}${word}"*`).join(' AND ')})`);
    return sql(
      `SELECT rowid AS id FROM ${name}_words WHERE ${name}_words MATCH ? AND rowid BETWEEN ? AND ?
        ORDER BY rowid${this.query.descending ? ' DESC' : ''} LIMIT ?`,
      matches.join(' OR '),
      low,
      high,
    );
  }

  /** Returns all ids in their order. @throws AppError `query_too_expensive` */
  async collect(time: Pick<QueryTime, 'checkpoint'>): Promise<readonly Id[]> {
    const { words } = this.query;
    const all: Id[] = [];
    for await (const block of this.blocks(time)) {
      const found = await this.ids(this.matchingIdsSql(block));
      const matching = mayOvermatch(words) ? await this.verified(found, time) : found;
      for (const id of matching) all.push(id);
    }
    return all;
  }

  /** @param ids of at most {@link JOINED_BLOCKS}, without its limit */
  private async ids({ text, values }: Sql): Promise<Id[]> {
    const all = sql(`SELECT group_concat(id) FROM (${text})`, ...values, JOINED_BLOCKS * BLOCK_IDS);
    return idsIn((await this.reader.row<[string | null]>(all))?.[0]);
  }

  /** Those of the ids whose records have all words. */
  private async verified(ids: readonly Id[], time: Pick<QueryTime, 'checkpoint'>): Promise<Id[]> {
    const found: Id[] = [];
    const records = new RecordReader(this.table, MAX_BYTES, FIRST_RECORDS);
    for await (const some of records.batches(this.reader, ids)) {
      for (const { id, fields } of some)
        if (matchesText(this.query.words, recordText(this.table, fields as object))) found.push(id);
      await time.checkpoint();
    }
    return found;
  }
}
