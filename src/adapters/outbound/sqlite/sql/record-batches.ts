import type { RecordTable } from '../../../../application/ports/list-query.js';
import type { StoredRecord } from '../../../../application/records/record-json.js';
import type { Id } from '../../../../domain/record.js';
import type { ThreadReader } from '../connection/reader-threads.js';
import { idsIn, type RecordTexts, recordsOf, type Sql, selectRecords, sql } from './schema.js';

/** The most records, and approximately the most bytes, that one statement reads. */
const MAX_RECORDS = 128;
const MAX_BYTES = 262_144;

/** Ids, and as many sizes: the bytes of the fields of their records. */
export interface SizedIds {
  readonly ids: readonly Id[];
  readonly sizes: readonly number[];
}

/** @param ids a statement that returns `id`; its order is kept */
export async function sizedIds(
  reader: ThreadReader,
  { name }: RecordTable,
  { text, values }: Sql,
): Promise<SizedIds> {
  const row = await reader.row<[ids: string | null, sizes: string | null]>(
    sql(
      `SELECT group_concat(found.id), group_concat(octet_length(record.fields)) FROM (${text}) AS found
        CROSS JOIN ${name} AS record ON record.id = found.id`,
      ...values,
    ),
  );
  const [ids = null, sizes = null] = row ?? [];
  return { ids: idsIn(ids), sizes: idsIn(sizes) };
}

/** Reads the records in the order of the ids. A statement has no large text, because the serving thread takes it apart. */
export async function* recordBatches<Fields>(
  reader: ThreadReader,
  table: RecordTable,
  { ids, sizes }: SizedIds,
  maxBytes = MAX_BYTES,
): AsyncGenerator<StoredRecord<Fields>[], void, void> {
  const text = selectRecords(table, 'SELECT value AS id FROM json_each(?)');
  for (let at = 0, end = 0; at < ids.length; at = end) {
    for (let bytes = 0; end < ids.length && end < at + MAX_RECORDS && bytes < maxBytes; end++)
      bytes += sizes[end] ?? 0;
    const texts = await reader.row<RecordTexts>(sql(text, JSON.stringify(ids.slice(at, end))));
    if (texts) yield recordsOf<Fields>(texts);
  }
}
