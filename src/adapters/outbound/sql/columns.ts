/** The columns of records, for the stores that speak SQL. */
import type { RecordTable } from '../../../application/ports/list-query.js';
import { StoredRecord } from '../../../application/records/record-json.js';
import type { Id, Instant } from '../../../domain/record.js';

/** What a record is read from. */
export const RECORD_COLUMNS = 'id, version, created_at, updated_at, fields';

export type RecordRow = [id: Id, version: number, createdAt: Instant, updatedAt: Instant, fields: string];

export function recordOf<Fields>(row: RecordRow): StoredRecord<Fields> {
  return StoredRecord.fromJson<Fields>(...row);
}

const SYSTEM_COLUMNS: Readonly<Record<string, string>> = {
  id: 'id',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
};

/** @param field of `specOf`, so that no other name gets into a statement */
export function columnOf(field: string): string {
  return SYSTEM_COLUMNS[field] ?? `"${field}"`;
}

/** The column of the folded copy of a field. */
export function foldedColumnOf(field: string): string {
  return `"${field} folded"`;
}

/** The column in which no two records share a value. */
export function uniqueColumnOf({ fields }: Pick<RecordTable, 'fields'>, field: string): string {
  return fields[field]?.ignoresCase ? foldedColumnOf(field) : columnOf(field);
}

/** The table with the values of lists, and those of attributes if they have no column, of another table. */
export function valuesTable(table: string): string {
  return `${table}_values`;
}
