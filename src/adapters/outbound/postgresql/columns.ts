import { DERIVED_VERSION } from '../../../application/ports/derived-data.js';
import type { RecordTable } from '../../../application/ports/list-query.js';
import { fieldValue, listValues } from '../../../application/records/query-semantics.js';
import { fieldsJson } from '../../../application/records/record-json.js';
import { MAX_WORD_LENGTH, recordText, recordWords } from '../../../application/search/tokenizer.js';
import { type Attributes, type FieldSpec, foldedOperators, foldedText, listFields } from '../../../domain/fields.js';
import type { Versioned } from '../../../domain/record.js';
import { columnOf, foldedColumnOf, valuesTable } from '../sql/keyset.js';
import { entriesOf } from './attributes.js';
import { prepared, type Statement } from './store.js';

/** The condition on rows that are records. Every index on columns has it, so a statement on records names it. */
export const IS_LIVE = 'deleted_at IS NULL';

/**
 * The consecutive ids of a block. Each word stands behind the number of its block, so that a search reads the index of
 * words block by block.
 */
export const BLOCK_IDS = 8_192;

/** A `tsvector` has less than 1 MiB; each word also takes some bytes. */
const MAX_WORDS_BYTES = 900_000;

/** The words of a record as the text of a `tsvector`; null if they are too many for one. */
function wordsOf(table: RecordTable, { id, fields }: Versioned<unknown>): string | null {
  const block = Math.floor(id / BLOCK_IDS);
  const words = recordWords(table, fields as object).map((word) => `'${block}.${word}'`);
  const text = words.join(' ');
  return Buffer.byteLength(text) > MAX_WORDS_BYTES ? null : text;
}

/** The characters of `long_text` behind the last one at which a word begins that counts. */
const TAIL = MAX_WORD_LENGTH;

/** The column `long_text` of a record with too many words: a search reads it in their place. */
function longTextOf(table: RecordTable, { fields }: Versioned<unknown>): string {
  const { text, end } = recordText(table, fields as object);
  const tail = [...text.slice(end, end + 2 * TAIL)].slice(0, TAIL);
  return text.slice(0, end) + tail.join('') + '\n'.repeat(TAIL - tail.length);
}

/** The condition on a row with too many words that it has each text of an array. An index has the few such rows. */
export const longTextHas = (texts: string) => `(words IS NULL AND NOT EXISTS (SELECT FROM unnest(${texts}) AS sought
  WHERE strpos(long_text, sought) NOT BETWEEN 1 AND length(long_text) - ${TAIL}))`;

export function uniqueIndexOf({ name, fields }: RecordTable, field: string): string {
  return `${name}_${field.replaceAll('.', '_')}${fields[field]?.ignoresCase ? '_folded' : ''}`;
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
  const words = new WeakMap<object, string | null>();
  const wordsIn = (record: Versioned<unknown>) => {
    const known = words.get(record);
    const text = known === undefined ? wordsOf(table, record) : known;
    words.set(record, text);
    return text;
  };
  const ofFields = Object.entries(table.fields).flatMap(([field, spec]) => columnsOfField(field, spec));
  const ofWords: Column[] = [
    { name: 'words', type: 'tsvector', cellOf: wordsIn },
    {
      name: 'long_text',
      type: 'text',
      cellOf: (record) => (wordsIn(record) === null ? longTextOf(table, record) : null),
    },
  ];
  return [
    { name: 'derived', type: 'integer', cellOf: () => DERIVED_VERSION },
    ...ofFields,
    ...(table.searched.length > 0 ? ofWords : []),
  ];
}

function columnsOfField(field: string, spec: FieldSpec): Column[] {
  const { type, isList } = spec;
  const name = columnOf(field);
  if (type === 'presence')
    return [{ name, type: 'boolean', cellOf: (record) => (fieldValue(record, field) === undefined ? null : true) }];
  if (type === 'attributes')
    return [
      { name, type: 'text[]', cellOf: ({ fields }) => arrayText(entriesOf(attributesOf(fields) ?? {})) },
      { name: documentColumnOf(field), type: 'jsonb', cellOf: ({ fields }) => documentOf(fields) },
    ];
  if (isList) return [{ name, type: 'text[]', cellOf: ({ fields }) => arrayText(listValues(fields as object, field)) }];
  const cellOf = (record: Versioned<unknown>) => fieldValue(record, field) ?? null;
  const own: Column = { name, type: type === 'text' ? 'text' : 'bigint', cellOf };
  if (!foldedOperators(spec)) return [own];
  const foldedOf = (record: Versioned<unknown>) => {
    const value = cellOf(record);
    return value === null ? null : foldedText(spec, String(value));
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

/**
 * The writes of one table. Each is one statement, which also keeps the values of lists. An UPDATE that waits for another
 * one compares the version again, and then changes nothing. A tombstone has no version.
 */
export class TableWrites {
  /** Values: {@link rowsOf}. Returns the ids that were inserted. */
  readonly insert: Statement;
  /** Values: the expected versions, then {@link rowsOf} different records. Returns the ids that were replaced. */
  readonly replace: Statement;
  /** As {@link replace}, with {@link restsOf} records that keep their words. A row of an earlier release stays stale. */
  readonly replaceRest: Statement;
  /** Values: the expected version, the id, the time of deletion. Returns the id if the record was removed. */
  readonly remove: Statement;
  /** Value: ids. Deletes rows without tombstones. */
  readonly discard: Statement;
  /** Values: {@link rowsOf}. Makes the derived columns of the rows that still have these versions. */
  readonly derive: Statement;
  private readonly columns: readonly Column[];
  private readonly rest: readonly Column[];

  constructor(table: RecordTable) {
    const { name } = table;
    this.columns = columnsOf(table);
    const names = this.columns.map((column) => column.name);
    const cells = this.columns.map((_, at) => `c${at}`);
    const columnTypes = this.columns.map((column, at) => `$${at + 1}::${transportType(column)}[]`);
    this.insert = withValues(
      table,
      `INSERT INTO ${name} (${names}) SELECT ${this.columns.map((column, at) => cast(column, `c${at}`))}
        FROM unnest(${columnTypes}) AS new(${cells}) ON CONFLICT DO NOTHING`,
      { added: true },
    );
    const replace = (columns: readonly Column[], further: readonly string[] = []) => {
      const given = columns.map((column, at) => `${column.name} = ${cast(column, `c${at}`)}`);
      const types = columns.map((column, at) => `$${at + 2}::${transportType(column)}[]`);
      const newRows = `unnest($1::bigint[], ${types}) AS new(expected, ${cells.slice(0, columns.length)})`;
      return withValues(
        table,
        `UPDATE ${name} SET ${[...given, ...further]} FROM ${newRows} WHERE id = c0 AND version = expected`,
        {
          added: true,
          before: 'JOIN unnest($2::bigint[], $1::bigint[]) AS old(id, version) USING (id, version)',
        },
      );
    };
    this.replace = replace(this.columns);
    this.rest = this.columns.filter((column) => !['derived', 'words', 'long_text'].includes(column.name));
    // A column of a later release, which this one does not write, is made again.
    this.replaceRest = replace(this.rest, [`derived = least(derived, ${DERIVED_VERSION})`]);
    const isExpected = 'WHERE id = $2 AND version = $1';
    const empty = names.filter((column) => column !== 'id').map((column) => `${column} = NULL`);
    this.remove = withValues(table, `UPDATE ${name} SET deleted_at = $3, ${empty} ${isExpected}`, {
      before: isExpected,
    });
    const isGiven = 'WHERE id = ANY($1::bigint[])';
    const derived = this.columns.map((column, at) => `${column.name} = ${cast(column, `c${at}`)}`);
    this.derive = withValues(
      table,
      `UPDATE ${name} SET ${derived} FROM unnest(${columnTypes}) AS new(${cells}) WHERE id = c0 AND version = c1`,
      { added: true, before: isGiven },
    );
    this.discard = withValues(table, `DELETE FROM ${name} ${isGiven}`, { before: isGiven });
  }

  /** The cells of each column. */
  rowsOf(records: readonly Versioned<unknown>[]): readonly unknown[] {
    return cellsOf(this.columns, records);
  }

  /** The cells of each column but those of the words. */
  restsOf(records: readonly Versioned<unknown>[]): readonly unknown[] {
    return cellsOf(this.rest, records);
  }
}

function cellsOf(columns: readonly Column[], records: readonly Versioned<unknown>[]): readonly unknown[] {
  return columns.map((column) => records.map((record) => column.cellOf(record)));
}

function isTransportedAsText({ type }: Column): boolean {
  return type === 'jsonb' || type === 'text[]' || type === 'tsvector';
}

function transportType(column: Column): string {
  return isTransportedAsText(column) ? 'text' : column.type;
}

function cast(column: Column, term: string): string {
  return isTransportedAsText(column) ? `${term}::text::${column.type}` : term;
}

/**
 * A write of a table that also writes the values of its lists. The statement reads the lists before the write in the
 * version that the write compares, so they are those that the write replaces.
 * @param added whether the written rows have lists
 * @param before the condition on the rows whose lists are replaced; absent: they are new
 */
function withValues(
  table: RecordTable,
  write: string,
  { added = false, before }: { readonly added?: boolean; readonly before?: string },
): Statement {
  const fields = listFields(table.fields);
  if (fields.length === 0) return prepared(`${write} RETURNING id`);
  const lists = fields.map(columnOf);
  const values = valuesTable(table.name);
  const parts = fields.flatMap((field, at) => {
    const list = columnOf(field);
    const known = `coalesce(before.${list}, '{}')`;
    const wanted = added ? `coalesce(written.${list}, '{}')` : `'{}'::text[]`;
    const from = before === undefined ? 'written' : 'written JOIN before USING (id)';
    const isNew = before === undefined ? '' : `WHERE value <> ALL(${known})`;
    return [
      ...(added
        ? [
            `added${at} AS (INSERT INTO ${values} SELECT '${field}', value, id
              FROM ${from}, unnest(written.${list}) AS value ${isNew} ON CONFLICT DO NOTHING)`,
          ]
        : []),
      ...(before === undefined
        ? []
        : [
            `removed${at} AS (DELETE FROM ${values} AS gone USING ${from}, unnest(${known}) AS old
              WHERE gone.field = '${field}' AND gone.value = old AND gone.id = written.id AND old <> ALL(${wanted}))`,
          ]),
    ];
  });
  const all = [
    ...(before === undefined ? [] : [`before AS (SELECT id, ${lists} FROM ${table.name} ${before})`]),
    `written AS (${write} RETURNING id, ${lists})`,
    ...parts,
  ];
  return prepared(`WITH ${all.join(', ')} SELECT id FROM written`);
}
