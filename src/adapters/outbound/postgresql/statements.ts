import { DERIVED_VERSION } from '../../../application/ports/derived-data.js';
import type { RecordTable } from '../../../application/ports/list-query.js';
import { listFields } from '../../../domain/fields.js';
import type { Versioned } from '../../../domain/record.js';
import { type Column, columnOf, columnsOf, valuesTable } from './columns.js';
import { prepared, type Statement } from './store.js';

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
