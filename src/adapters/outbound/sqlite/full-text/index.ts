import type { RecordTable } from '../../../../application/ports/list-query.js';
import { mayDifferInWords, recordWords, searchedLength } from '../../../../application/search/tokenizer.js';
import type { Id } from '../../../../domain/record.js';
import type { Statements } from '../connection/database.js';

/**
 * The number of consecutive ids that share a block. FTS5 merges all records of a prefix before it returns the first
 * one: about a millisecond for a block in which every record matches.
 */
export const BLOCK_IDS = 8_192;

/**
 * The code points of a word that the index has. Scripts without spaces have a word for each character, so whole words
 * would take much of the index. Longer words of a query need another look at the records.
 */
export const INDEXED_LENGTH = 16;

/**
 * What stands before each word of a block in the index. No mark is the beginning of another one: it starts with its
 * length.
 */
export function blockMark(id: Id): string {
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
