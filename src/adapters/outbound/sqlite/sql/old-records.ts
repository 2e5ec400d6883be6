import type { RecordTable } from '../../../../application/ports/list-query.js';
import type { Id } from '../../../../domain/record.js';
import type { Reader, Statement } from '../connection/connection.js';

/** The most records, and approximately the most bytes of their fields, of one write: a few milliseconds. */
export const MAX_OLD_ROWS = 64;
const MAX_BYTES = 65_536;

/** The ids of records for which an index may lack entries: those after `doneTo`, up to `oldTo`. */
export interface OldIds {
  readonly doneTo: Id;
  readonly oldTo: Id;
}

/**
 * Makes the entries of the next old records.
 * @param make called for each of at most `limit` records
 * @returns their number, and the id up to which all are made
 */
export function makeNext(
  statement: (sql: string) => Statement,
  table: string,
  { doneTo, oldTo }: OldIds,
  limit: number,
  make: (id: Id, fields: object) => void,
): { readonly count: number; readonly doneTo: Id } {
  const rows = statement(
    `SELECT id, octet_length(fields) FROM ${table} WHERE id > ? AND id <= ? ORDER BY id LIMIT ?`,
  ).all([doneTo, oldTo, limit]) as [Id, number][];
  let bytes = 0;
  let count = 0;
  for (const [id, size] of rows) {
    if (count > 0 && bytes + size > MAX_BYTES) break;
    const [fields] = statement(`SELECT fields FROM ${table} WHERE id = ?`).get([id]) as [string];
    make(id, JSON.parse(fields) as object);
    bytes += size;
    count++;
  }
  const isEnd = count === rows.length && count < limit;
  return { count, doneTo: isEnd ? oldTo : (rows[count - 1]?.[0] ?? oldTo) };
}

export const VALUE_STATE = 'SELECT done_to, old_to FROM value_indexes WHERE name = ?';

/** Whether the index of values has the attributes of all records. Once it has, it always will. */
export function hasAllValues(reader: Reader, { name }: Pick<RecordTable, 'name'>): boolean {
  const row = reader.read(VALUE_STATE, (statement) => statement.get([name]) as [Id, Id] | undefined);
  return row === undefined || row[0] >= row[1];
}
