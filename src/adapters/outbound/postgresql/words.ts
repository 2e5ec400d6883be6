import type { RecordTable } from '../../../application/ports/list-query.js';
import { recordWords } from '../../../application/search/tokenizer.js';
import type { Id } from '../../../domain/record.js';

/**
 * The consecutive ids of a block. Each word stands behind the number of its block, so that a search reads the index of
 * words block by block.
 */
export const BLOCK_IDS = 8_192;

/** A `tsvector` has less than 1 MiB; each word also takes some bytes. */
const MAX_WORDS_BYTES = 900_000;

/** The words of a record as the text of a `tsvector`; null if they are too many for one. */
export function wordsOf(table: RecordTable, id: Id, fields: object): string | null {
  const block = Math.floor(id / BLOCK_IDS);
  const words = recordWords(table, fields).map((word) => `'${block}.${word}'`);
  const text = words.join(' ');
  return Buffer.byteLength(text) > MAX_WORDS_BYTES ? null : text;
}
