import type {
  FacetCount,
  FacetField,
  FacetQuery,
  RecordTable,
} from '../../../application/ports/list-query.js';
import { specOf } from '../../../application/records/query-semantics.js';
import { columnOf, documentColumnOf, IS_LIVE, valuesTable } from './columns.js';
import { comparison, isStorable, type Parameters } from './filter.js';

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
 * first values, so it sends no others. It reads the matching records once for all fields; the values of all records come
 * from indexes, but for those of attributes.
 * @param source where the records are read that match the filters
 */
export function facetsStatement(
  table: RecordTable,
  { fields, filters, limit, prefix, after }: FacetQuery,
  source: string,
  parameters: Parameters,
): string {
  const isWhole = filters.length === 0;
  const read: string[] = [];
  const behind = after ? `WHERE ${isBehind(after, parameters)}` : '';
  const parts = fields.map((field, at) => {
    const values = { column: `v${at}`, prefix };
    const isRead = field.key !== undefined || !isWhole;
    if (isRead) read.push(`${termOf(field, parameters)} AS v${at}`);
    const counted = isRead
      ? readValues(table, field, values, parameters)
      : indexedValues(table, field, values, parameters);
    return `(SELECT ${at}, text, number, boolean, count FROM (${counted}) AS counted ${behind}
      ORDER BY count DESC, text, number, boolean LIMIT ${limit + 1})`;
  });
  const matching = read.length > 0 ? `WITH matching AS (SELECT ${read} FROM ${source})` : '';
  return `${matching} ${parts.join(' UNION ALL ')}`;
}

function termOf({ field, key }: FacetField, parameters: Parameters): string {
  if (key === undefined) return columnOf(field);
  // No record has such a key, and the server takes no such text.
  if (!isStorable(key)) return 'NULL::jsonb';
  return `${documentColumnOf(field)} -> ${parameters.add(key)}`;
}

/** A field whose values are counted, as a column of `matching`. */
interface Values {
  readonly column: string;
  readonly prefix: string | undefined;
}

/** The statement of the values of a field in the matching records, each with its count. */
function readValues(
  table: RecordTable,
  { field, key }: FacetField,
  { column, prefix }: Values,
  parameters: Parameters,
): string {
  if (key === undefined)
    return specOf(table, field).isList
      ? countedTexts('value', `matching, unnest(${column}) AS value`, prefix, parameters)
      : countedTexts(column, 'matching', prefix, parameters);
  const typed = (type: string, value: string) =>
    `CASE jsonb_typeof(${column}) WHEN '${type}' THEN ${value} END`;
  const text = `${typed('string', `${column} #>> '{}'`)} COLLATE "C"`;
  return `SELECT ${text} AS text, ${typed('number', `${column}::double precision`)} AS number,
    ${typed('boolean', `${column}::boolean`)} AS boolean, count
    FROM (SELECT ${column}, count(*) AS count FROM matching WHERE ${column} IS NOT NULL GROUP BY ${column}) AS grouped
    WHERE ${begins(text, prefix, parameters)}`;
}

/** The statement of the values of a field in all records, each with its count. */
function indexedValues(
  table: RecordTable,
  { field }: FacetField,
  { prefix }: Values,
  parameters: Parameters,
): string {
  return specOf(table, field).isList
    ? countedTexts('value', valuesTable(table.name), prefix, parameters, `field = '${field}'`)
    : countedTexts(columnOf(field), table.name, prefix, parameters, IS_LIVE);
}

function countedTexts(
  value: string,
  from: string,
  prefix: string | undefined,
  parameters: Parameters,
  condition = 'TRUE',
): string {
  return `SELECT ${value} AS text, NULL::double precision AS number, NULL::boolean AS boolean, count(*) AS count
    FROM ${from} WHERE ${condition} AND ${value} IS NOT NULL AND ${begins(value, prefix, parameters)} GROUP BY ${value}`;
}

function begins(text: string, prefix: string | undefined, parameters: Parameters): string {
  return prefix === undefined ? 'TRUE' : comparison(text, 'prefix', prefix, parameters);
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
