import type { RecordTable } from '../../../application/records/list-query.js';
import type { Id, Instant, Versioned } from '../../../domain/record.js';

const METADATA_COLUMNS: Readonly<Record<string, string>> = {
  createdAt: 'created_at',
  updatedAt: 'updated_at',
};

/** The column of a field. Columns of a resource's own fields are generated from its JSON text. */
export function columnOf(field: string): string {
  return METADATA_COLUMNS[field] ?? `"${field}"`;
}

export const ID = columnOf('id');

/** The column with the case-folded value of a field that ignores case. */
export function foldedColumnOf(field: string): string {
  return `"${field} folded"`;
}

/** The column of a unique field in which no two records share a value. */
export function uniqueColumnOf({ fields }: RecordTable, field: string): string {
  return fields[field]?.ignoresCase ? foldedColumnOf(field) : columnOf(field);
}

/**
 * The table with the index on a column, for `FROM`. A statement that cannot use the index does not compile. The order
 * of `id` is the table's own.
 */
export function indexedBy({ name }: RecordTable, column: string): string {
  return column === ID ? `${name} NOT INDEXED` : `${name} INDEXED BY ${indexName(name, column)}`;
}

function indexName(table: string, column: string): string {
  return `${table}_${column.replaceAll('"', '').replaceAll(/[. ]/g, '_')}`;
}

/** The values of {@link RECORD_COLUMNS}. */
export type RecordRow = [id: Id, version: number, createdAt: Instant, updatedAt: Instant, fields: string];

export const RECORD_COLUMNS = 'id, version, created_at, updated_at, fields';

/**
 * The row of a record. It is a copy, so a later change of the record does not change a row that waits to be written.
 */
export function rowOf({ id, version, createdAt, updatedAt, fields }: Versioned<unknown>): RecordRow {
  return [id, version, createdAt, updatedAt, JSON.stringify(fields)];
}

export function recordOf<Fields>([id, version, createdAt, updatedAt, fields]: RecordRow): Versioned<Fields> {
  return { id, version, createdAt, updatedAt, fields: JSON.parse(fields) as Fields };
}

/** SQL text and the values of its question marks. Nothing that a client sent becomes part of the text. */
export interface Sql {
  readonly text: string;
  readonly values: readonly unknown[];
}

export function sql(text: string, ...values: unknown[]): Sql {
  return { text, values };
}

/** The conjunction of the conditions; `TRUE` if there are none. */
export function allOf(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? sql('TRUE') : joined(conditions, ' AND ');
}

/** @param conditions at least one */
export function anyOf(conditions: readonly Sql[]): Sql {
  return joined(conditions, ' OR ');
}

function joined(conditions: readonly Sql[], operator: string): Sql {
  const texts = conditions.map(({ text }) => `(${text})`);
  return sql(texts.join(operator), ...conditions.flatMap(({ values }) => values));
}
