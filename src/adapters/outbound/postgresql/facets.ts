import type {
  FacetCount,
  FacetField,
  FacetQuery,
  RecordTable,
} from '../../../application/ports/list-query.js';
import { columnOf, specOf, valuesTable } from './columns.js';
import { attributesTerm, comparison, isStorable, type Parameters } from './filter.js';

/** The place of the field in the query; of the value, what is of another type is null. */
export type FacetRow = [
  at: number,
  text: string | null,
  number: number | null,
  boolean: boolean | null,
  count: number,
];

/**
 * Returns the statement of the first values of each field behind a place. The server groups the records and keeps the
 * first values, so it sends no others.
 * @param source where the records are read that match the filters
 */
export function facetsStatement(
  table: RecordTable,
  { fields, filters, limit, prefix, after }: FacetQuery,
  source: string,
  parameters: Parameters,
): string {
  const isWhole = filters.length === 0;
  const columns = fields.map((field, at) => `${termOf(table, field, parameters)} AS v${at}`);
  // The values of all records come from indexes; else the matching records are read once for all fields.
  const matching = `matching AS ${isWhole ? 'NOT ' : ''}MATERIALIZED (SELECT ${columns} FROM ${source})`;
  const behind = after ? `WHERE ${isBehind(after, parameters)}` : '';
  const parts = fields.map((field, at) => {
    const counted = countedValues(table, field, `v${at}`, { isWhole, prefix }, parameters);
    return `(SELECT ${at}, text, number, boolean, count FROM (${counted}) AS counted ${behind}
      ORDER BY count DESC, text, number, boolean LIMIT ${limit + 1})`;
  });
  return `WITH ${matching} ${parts.join(' UNION ALL ')}`;
}

function termOf(table: RecordTable, { field, key }: FacetField, parameters: Parameters): string {
  if (key === undefined) return columnOf(field);
  // No record has such a key, and the server takes no such text.
  if (!isStorable(key)) return 'NULL::jsonb';
  return attributesTerm(table, field, (document) => `${document} -> ${parameters.add(key)}`);
}

/** The statement of all values of a field, each with its count. */
function countedValues(
  table: RecordTable,
  { field, key }: FacetField,
  column: string,
  { isWhole, prefix }: { readonly isWhole: boolean; readonly prefix: string | undefined },
  parameters: Parameters,
): string {
  const having = (text: string) =>
    prefix === undefined ? '' : `AND ${comparison(text, 'prefix', prefix, parameters)}`;
  if (key !== undefined) {
    const text = `CASE jsonb_typeof(${column}) WHEN 'string' THEN ${column} #>> '{}' END COLLATE "C"`;
    return `SELECT ${text} AS text,
      CASE jsonb_typeof(${column}) WHEN 'number' THEN ${column}::double precision END AS number,
      CASE jsonb_typeof(${column}) WHEN 'boolean' THEN ${column}::boolean END AS boolean, count
      FROM (SELECT ${column}, count(*) AS count FROM matching WHERE ${column} IS NOT NULL GROUP BY ${column}) AS grouped
      WHERE TRUE ${having(text)}`;
  }
  const select = (value: string, from: string) =>
    `SELECT ${value} AS text, NULL::double precision AS number, NULL::boolean AS boolean, count(*) AS count
      FROM ${from} ${having(value)} GROUP BY ${value}`;
  if (!specOf(table, field).isList) return select(column, `matching WHERE ${column} IS NOT NULL`);
  return isWhole
    ? select('value', `${valuesTable(table.name)} WHERE field = '${field}'`)
    : select('value', `matching, unnest(${column}) AS value WHERE TRUE`);
}

function isBehind({ value, count }: FacetCount, parameters: Parameters): string {
  const than = parameters.add(count);
  const type = typeof value;
  const rest =
    type === 'string'
      ? `(text IS NULL OR ${comparison('text', 'gt', value as string, parameters)})`
      : type === 'number'
        ? `text IS NULL AND (number IS NULL OR number > ${parameters.add(value)})`
        : `text IS NULL AND number IS NULL AND boolean > ${parameters.add(value)}`;
  return `(count < ${than} OR count = ${than} AND ${rest})`;
}

/** The value and the count of a row. */
export function facetCountOf([, text, number, boolean, count]: FacetRow): FacetCount {
  return { value: text ?? number ?? boolean ?? false, count };
}
