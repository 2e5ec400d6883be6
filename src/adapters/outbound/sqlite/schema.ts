import type { RecordTable } from '../../../application/list-query.js';

const OF_METADATA: Readonly<Record<string, string>> = { createdAt: 'created_at', updatedAt: 'updated_at' };

/** The column that a field is in; those of the resource's own fields are generated from its JSON text. */
export function columnOf(field: string): string {
  return OF_METADATA[field] ?? `"${field}"`;
}

/** Of a field that ignores case: its value without it. */
export function foldedColumnOf(field: string): string {
  return `"${field} folded"`;
}

/** The column in which no two records share a value. */
export function identityColumnOf({ fields }: RecordTable, field: string): string {
  return fields[field]?.ignoresCase ? foldedColumnOf(field) : columnOf(field);
}

/** Names the index that is to be used; a statement that cannot use it does not compile. `id` is the table's own order. */
export function indexedBy({ name }: RecordTable, column: string): string {
  return column === ID ? `${name} NOT INDEXED` : `${name} INDEXED BY ${indexName(name, column)}`;
}

export const ID = columnOf('id');

function indexName(table: string, column: string): string {
  return `${table}_${column.replaceAll('"', '').replaceAll(/[. ]/g, '_')}`;
}
