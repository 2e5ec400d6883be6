import type { RecordTable } from '../../../application/ports/list-query.js';
import { fieldValue, listValues } from '../../../application/records/query-semantics.js';
import { fieldsJson, StoredRecord } from '../../../application/records/record-json.js';
import { TOKENIZER_VERSION } from '../../../application/search/tokenizer.js';
import type { Attributes, FieldSpec } from '../../../domain/fields.js';
import type { Id, Instant, Versioned } from '../../../domain/record.js';
import { foldCase } from '../../../domain/text.js';
import { entriesOf } from './attributes.js';
import { wordsOf } from './words.js';

/**
 * The version of the rules by which the derived columns of a row are made. The indexing job makes those of rows of a
 * lower version again. Increase it, for the tables concerned, with every step that adds such a column.
 */
export function derivedVersion({ fields }: Pick<RecordTable, 'fields'>): number {
  const hasAttributes = Object.values(fields).some(({ type }) => type === 'attributes');
  return TOKENIZER_VERSION + (hasAttributes ? 1 : 0);
}

/**
 * The condition on rows whose derived columns an earlier release has made or kept, which may lack the newest. An index of
 * few rows has this condition.
 */
export function isOutdated(table: Pick<RecordTable, 'fields'>): string {
  return `derived < ${derivedVersion(table)}`;
}

/** The condition on rows that are records. Every index on columns has it, so a statement on records names it. */
export const IS_LIVE = 'deleted_at IS NULL';

/**
 * The condition on rows whose words are not known: they are too many, or another release made them. A search compares
 * such a row itself. An index of few rows has this condition.
 */
export const IS_DOUBTFUL = `(words IS NULL OR derived < ${TOKENIZER_VERSION})`;

const SYSTEM_COLUMNS: Readonly<Record<string, string>> = {
  id: 'id',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
};

/** @param field of {@link specOf} */
export function columnOf(field: string): string {
  return SYSTEM_COLUMNS[field] ?? `"${field}"`;
}

/** The column of the case-folded copy of a field that ignores case. */
export function foldedColumnOf(field: string): string {
  return `"${field} folded"`;
}

/** The column in which no two records share a value. */
export function uniqueColumnOf({ fields }: RecordTable, field: string): string {
  return fields[field]?.ignoresCase ? foldedColumnOf(field) : columnOf(field);
}

/** The name of the unique index of a field. */
export function uniqueIndexOf({ name, fields }: RecordTable, field: string): string {
  return `${name}_${field.replaceAll('.', '_')}${fields[field]?.ignoresCase ? '_folded' : ''}`;
}

/** The name of the table with the values of the lists in another table. */
export function valuesTable(name: string): string {
  return `${name}_values`;
}

/** The column of a copy of attributes that the server need not parse. */
export function documentColumnOf(field: string): string {
  return `"${field} document"`;
}

type Cell = string | number | boolean | null;

/** A column of a table of records, and the value that the row of a record has in it. */
export interface Column {
  /** Quoted if necessary. */
  readonly name: string;
  readonly type: 'bigint' | 'boolean' | 'integer' | 'jsonb' | 'text' | 'text[]' | 'tsvector';
  /** A document, an array or a vector as text, since arrays of arrays must be rectangular. */
  cellOf(record: Versioned<unknown>): Cell;
}

/** The columns of a record: its own, then those that are derived from its fields. */
export function columnsOf(table: RecordTable): readonly Column[] {
  return [
    { name: 'id', type: 'bigint', cellOf: ({ id }) => id },
    { name: 'version', type: 'bigint', cellOf: ({ version }) => version },
    { name: 'created_at', type: 'bigint', cellOf: ({ createdAt }) => createdAt },
    { name: 'updated_at', type: 'bigint', cellOf: ({ updatedAt }) => updatedAt },
    { name: 'fields', type: 'text', cellOf: fieldsJson },
    ...derivedColumnsOf(table),
  ];
}

function derivedColumnsOf(table: RecordTable): readonly Column[] {
  const version = derivedVersion(table);
  const ofFields = Object.entries(table.fields).flatMap(([field, spec]) => columnsOfField(field, spec));
  const words: Column = {
    name: 'words',
    type: 'tsvector',
    cellOf: ({ id, fields }) => wordsOf(table, id, fields as object),
  };
  return [
    { name: 'derived', type: 'integer', cellOf: () => version },
    ...ofFields,
    ...(table.searched.length > 0 ? [words] : []),
  ];
}

function columnsOfField(field: string, { type, isList, ignoresCase }: FieldSpec): Column[] {
  const name = columnOf(field);
  if (type === 'presence')
    return [
      { name, type: 'boolean', cellOf: (record) => (fieldValue(record, field) === undefined ? null : true) },
    ];
  if (type === 'attributes')
    return [
      { name, type: 'text[]', cellOf: ({ fields }) => arrayText(entriesOf(attributesOf(fields) ?? {})) },
      { name: documentColumnOf(field), type: 'jsonb', cellOf: ({ fields }) => documentOf(fields) },
    ];
  if (isList)
    return [{ name, type: 'text[]', cellOf: ({ fields }) => arrayText(listValues(fields as object, field)) }];
  const cellOf = (record: Versioned<unknown>) => fieldValue(record, field) ?? null;
  const own: Column = { name, type: type === 'text' ? 'text' : 'bigint', cellOf };
  if (!ignoresCase) return [own];
  const foldedOf = (record: Versioned<unknown>) => {
    const value = cellOf(record);
    return value === null ? null : foldCase(String(value));
  };
  return [own, { name: foldedColumnOf(field), type: 'text', cellOf: foldedOf }];
}

function attributesOf(fields: unknown): Attributes | undefined {
  return (fields as { attributes?: Attributes }).attributes;
}

function documentOf(fields: unknown): string | null {
  const attributes = attributesOf(fields);
  return attributes ? JSON.stringify(attributes) : null;
}

/** The text of an array (https://www.postgresql.org/docs/current/arrays.html#ARRAYS-INPUT); null if it is empty. */
function arrayText(elements: readonly string[]): string | null {
  if (elements.length === 0) return null;
  const escaped = (element: string) =>
    /["\\]/.test(element) ? element.replaceAll(/["\\]/g, String.raw`\$&`) : element;
  return `{${elements.map((element) => `"${escaped(element)}"`).join(',')}}`;
}

/** What a record is read from. */
export const RECORD_COLUMNS = 'id, version, created_at, updated_at, fields';

export type RecordRow = [id: Id, version: number, createdAt: Instant, updatedAt: Instant, fields: string];

export function recordOf<Fields>(row: RecordRow): StoredRecord<Fields> {
  return StoredRecord.fromJson<Fields>(...row);
}
