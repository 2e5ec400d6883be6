import type { Document } from 'mongodb';
import type { RecordTable, SearchFilter } from '../../../application/ports/list-query.js';
import type { IdRange } from '../../../application/search/id-range.js';
import { recordWords } from '../../../application/search/tokenizer.js';
import type { Id } from '../../../domain/record.js';

/**
 * The consecutive ids of a block. A search reads the index of words block by block. Within a block it reads every key
 * of the word, and it seeks once in each block.
 */
export const BLOCK_IDS = 2_048;

/** The name of the index on the words. */
export const WORDS_INDEX = 'live_block_words';
export const WORDS_KEY = { live: 1, block: 1, words: 1, _id: 1 } as const;

/** The members of a document that only searches use. */
export interface IndexedWords {
  readonly words: readonly string[];
  /** The number of the block that the id lies in. */
  readonly block: number;
}

/** @returns nothing if the table is not searchable */
export function indexedWords(table: RecordTable, id: Id, fields: object): Partial<IndexedWords> {
  if (table.searched.length === 0) return {};
  return { words: recordWords(table, fields), block: blockOf(id) };
}

/** A projection without the words, which can be more than the record itself. */
export const WITHOUT_WORDS = { words: 0 } as const;

/**
 * The condition of a search. A word begins with a text if it matches an expression that is `^` and the text: the server
 * makes exact bounds of it (`translateRegex` in src/mongo/db/query of https://github.com/mongodb/mongo), so it reads
 * keys only. With `$elemMatch` it would fetch each document; `$gte` and `$lt` alone may be met by two different words.
 * The characters of a word are letters, digits and marks, so none has a meaning in an expression.
 */
export function searchCondition({ words }: SearchFilter): Document {
  return { $and: words.map((word) => ({ words: { $regex: `^${word}` } })) };
}

/** The conditions on the documents in a range. */
export function rangeConditions({ low, high }: IdRange): Document[] {
  const isOpen = high === Number.POSITIVE_INFINITY;
  const between = (path: string, first: number, last: number) => ({
    [path]: { $gte: first, ...(!isOpen && { $lte: last }) },
  });
  return [between('_id', low, high), between('block', blockOf(low), blockOf(high))];
}

export function blockOf(id: Id): number {
  return Math.floor(id / BLOCK_IDS);
}
