import type { AttributeFilter, Filter, RecordTable } from '../../../../application/ports/list-query.js';
import { attributeValues } from '../../../../application/records/query-semantics.js';
import { attributeRange, comparedColumn, conditionOf, isRange, rangeCondition } from './filter.js';
import {
  allOf,
  attributeName,
  ID,
  indexedBy,
  isOneOf,
  ofField,
  type Sql,
  type StoredValue,
  sql,
  storedValue,
  valuesTable,
} from './schema.js';

/** The most values that are looked up for a row one by one. Of more, and of ranges, all ids are found before. */
const MAX_PROBED = 4;

/** Rows of one index that match some filters. */
export interface Seek {
  /** The column of the table; absent: the rows are in another table, which has their `id`. */
  readonly column?: string;
  /** For `FROM`. */
  readonly source: string;
  readonly found: Sql;
  readonly served: readonly Filter[];
  /** The number of different values, if they are listed. The rows of one value are in the order of ids. */
  readonly values?: number;
  /** Whether a record may have several of the rows. */
  readonly hasTwins?: boolean;
}

/** A statement of the ids of the rows. */
export function idsOfSeek({ source, found }: Seek): Sql {
  return sql(`SELECT id FROM ${source} WHERE ${found.text}`, ...found.values);
}

/** Every way in which an index finds what filters match. */
export function seeksOf(table: RecordTable, filters: readonly Filter[]): Seek[] {
  const columns = new Map<string, Filter[]>();
  const ranges = new Map<string, AttributeFilter[]>();
  const seeks: Seek[] = [];
  const addTo = <Key, One>(all: Map<Key, One[]>, key: Key, one: One) =>
    all.set(key, [...(all.get(key) ?? []), one]);
  for (const filter of filters) {
    const column = comparedColumn(table, filter);
    const seek = valuesSeek(table, filter);
    if (seek) seeks.push(seek);
    else if ('comparison' in filter) addTo(ranges, filter.key, filter);
    else if (column !== undefined && (isRange(filter) || filter.operator === 'in'))
      addTo(columns, column, filter);
  }
  return [
    ...[...columns].map(([column, own]) => columnSeek(table, column, own)),
    ...seeks,
    ...[...ranges.values()].map((own) => rangeSeek(table, own)),
  ];
}

/** The rows in the order of a column that match those filters which are ranges of it. */
export function orderSeek(table: RecordTable, column: string, filters: readonly Filter[]): Seek {
  const own = filters.filter((filter) => isRange(filter) && comparedColumn(table, filter) === column);
  const { found, ...seek } = columnSeek(table, column, own);
  return { ...seek, found: column === ID ? found : allOf([sql(`${column} IS NOT NULL`), found]) };
}

/** @param filters each a range of the column, or a list of values */
function columnSeek(table: RecordTable, column: string, filters: readonly Filter[]): Seek {
  const found = allOf(filters.map((filter) => conditionOf(table, filter, column)));
  const values = Math.min(...filters.map((filter) => listed(filter) ?? Number.POSITIVE_INFINITY));
  return { column, source: indexedBy(table, column), found, served: filters, values };
}

function listed(filter: Filter): number | undefined {
  if (filter.operator === 'eq') return 1;
  return filter.operator === 'in' ? new Set(filter.values).size : undefined;
}

/** The rows of a filter of a list, or of one attribute. Comparisons of an attribute are one range together. */
function valuesSeek(table: RecordTable, filter: Filter): Seek | undefined {
  const source = valuesTable(table.name);
  if (filter.operator === 'attribute') {
    if ('comparison' in filter) return undefined;
    const field = ofField(attributeName(filter.field, filter.key));
    if ('exists' in filter) return filter.exists ? { source, found: field, served: [filter] } : undefined;
    const values: StoredValue[] = [...new Set(attributeValues(filter))].map(storedValue);
    return {
      source,
      found: allOf([field, isOneOf('value', values)]),
      served: [filter],
      values: values.length,
    };
  }
  if (!table.fields[filter.field]?.isList || filter.operator === 'exists') return undefined;
  const found = allOf([ofField(filter.field), conditionOf(table, filter, 'value')]);
  const values = listed(filter);
  return { source, found, served: [filter], ...(values !== undefined && { values }), hasTwins: values !== 1 };
}

function rangeSeek(table: RecordTable, filters: readonly AttributeFilter[]): Seek {
  const [{ field, key }] = filters as [AttributeFilter];
  const found = allOf([ofField(attributeName(field, key)), rangeCondition('value', attributeRange(filters))]);
  return { source: valuesTable(table.name), found, served: filters };
}

/**
 * The conditions of filters on each row of the table, for which SQLite uses no other index of the table.
 * @param seeks of the filters
 */
export function conditionsOf(table: RecordTable, filters: readonly Filter[], seeks: readonly Seek[]): Sql[] {
  const looked = seeks.filter(({ column }) => column === undefined);
  const rest = filters.filter((filter) => !looked.some(({ served }) => served.includes(filter)));
  return [
    ...rest.map((filter) => rowCondition(table, filter)),
    ...looked.map((seek) => lookupCondition(table, seek)),
  ];
}

function rowCondition(table: RecordTable, filter: Filter): Sql {
  const column = comparedColumn(table, filter);
  if (column !== undefined) return conditionOf(table, filter, `+${column}`);
  if (filter.operator !== 'attribute') return conditionOf(table, filter, `fields -> '$.${filter.field}'`);
  const { text, values } = ofField(attributeName(filter.field, filter.key));
  return sql(`${ID} NOT IN (SELECT id FROM ${valuesTable(table.name)} WHERE ${text})`, ...values);
}

/** The condition that a row has one of the rows of a seek in another table. */
function lookupCondition({ name }: RecordTable, seek: Seek): Sql {
  const { text, values } = idsOfSeek(seek);
  const isProbed = seek.values !== undefined && seek.values <= MAX_PROBED;
  return isProbed
    ? sql(`EXISTS (SELECT 1 FROM (${text}) AS own WHERE own.id = ${name}.id)`, ...values)
    : sql(`+${ID} IN (${text})`, ...values);
}
