import type { RecordTable } from '../../../../application/ports/list-query.js';
import type { SearchIndex } from '../../../../application/ports/search-index.js';
import type { IdRange } from '../../../../application/search/id-range.js';
import {
  mayDifferInWords,
  recordWords,
  searchedLength,
  TOKENIZER_VERSION,
} from '../../../../application/search/tokenizer.js';
import { type Id, MAX_ID } from '../../../../domain/record.js';
import type { SqliteDatabase, Statements } from '../connection/database.js';

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

/** The most records, and approximately the most bytes of their fields, of one write: a few milliseconds. */
const MAX_OLD_ROWS = 64;
const MAX_BYTES = 65_536;

export type StateRow = [version: number, doneTo: Id, oldTo: Id];

/** By the name of a table. */
export const STATE = 'SELECT rules, done_to, old_to FROM word_indexes WHERE name = ?';
const ADVANCE = 'UPDATE word_indexes SET done_to = ? WHERE name = ?';
/** The version of an index is that of its oldest words. */
const LOWER = 'UPDATE word_indexes SET rules = ? WHERE name = ?';

/** Returns the ids of the records whose words the index does not have, or only as an older tokenizer makes them. */
export function unindexedIn(state: StateRow | undefined): IdRange | undefined {
  if (!state) return undefined;
  const [version, doneTo, oldTo] = state;
  if (version < TOKENIZER_VERSION) return { low: 1, high: MAX_ID };
  return doneTo < oldTo ? { low: doneTo + 1, high: oldTo } : undefined;
}

/**
 * The words of the records of one table, in an FTS5 table without a copy of the text. The id of a record is the rowid
 * of its words. Its methods run in the write that changes the record.
 */
export class WordIndex implements SearchIndex {
  readonly name: string;
  private readonly sql: ReturnType<typeof statements>;

  constructor(
    private readonly database: SqliteDatabase,
    private readonly table: RecordTable,
  ) {
    this.name = table.name;
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
    const [version] = statement(STATE).get([this.name]) as StateRow;
    if (version > TOKENIZER_VERSION) statement(LOWER).run(TOKENIZER_VERSION, this.name);
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

  /**
   * Makes all words again if an older tokenizer made them; a write of a record makes its words at once. A write holds
   * the lock of the database, so two processes never index the same records.
   */
  indexNext(limit: number): Promise<number> {
    const most = Math.min(limit, MAX_OLD_ROWS);
    return this.database.write((statement) => {
      const [version] = statement(STATE).get([this.name]) as StateRow;
      if (version < TOKENIZER_VERSION) {
        statement(this.sql.empty).run();
        statement(this.sql.restart).run(TOKENIZER_VERSION, this.name);
      }
      const [, doneTo, oldTo] = statement(STATE).get([this.name]) as StateRow;
      return version > TOKENIZER_VERSION || doneTo === oldTo
        ? 0
        : this.indexOld(statement, doneTo, oldTo, most);
    }, most);
  }

  /** Makes the entries of the next records after `doneTo`, up to `oldTo`. @returns their number */
  private indexOld(statement: Statements, doneTo: Id, oldTo: Id, limit: number): number {
    const rows = statement(this.sql.old).all([doneTo, oldTo, limit]) as [Id, number][];
    let bytes = 0;
    let count = 0;
    for (const [id, size] of rows) {
      if (count > 0 && bytes + size > MAX_BYTES) break;
      const [fields] = statement(this.sql.fieldsOf).get([id]) as [string];
      this.put(statement, id, this.entryOf(id, JSON.parse(fields) as object));
      bytes += size;
      count++;
    }
    const isEnd = count === rows.length && count < limit;
    statement(ADVANCE).run(isEnd ? oldTo : (rows[count - 1]?.[0] ?? oldTo), this.name);
    return count;
  }
}

function statements(table: string) {
  return {
    // It takes 30 ms for a million records. Without it, each search would pass the deleted words for long.
    empty: `INSERT INTO ${table}_words (${table}_words) VALUES ('delete-all')`,
    restart: `UPDATE word_indexes SET rules = ?, done_to = 0, old_to = coalesce((SELECT max(id) FROM ${table}), 0)
      WHERE name = ?`,
    put: `INSERT OR REPLACE INTO ${table}_words (rowid, words) VALUES (?, ?)`,
    remove: `DELETE FROM ${table}_words WHERE rowid = ?`,
    old: `SELECT id, octet_length(fields) FROM ${table} WHERE id > ? AND id <= ? ORDER BY id LIMIT ?`,
    fieldsOf: `SELECT fields FROM ${table} WHERE id = ?`,
  };
}
