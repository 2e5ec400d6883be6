import type {
  AttributeFilter,
  Comparison,
  Filter,
  RecordTable,
  Value,
} from '../../../../application/ports/list-query.js';
import {
  attributeValues,
  comparedValue,
  isFolded,
  prefixRange,
} from '../../../../application/records/query-semantics.js';
import { columnOf, foldedColumnOf, valuesTable } from '../../sql/keyset.js';
import {
  allOf,
  anyOf,
  attributeName,
  compareStored,
  ID,
  indexedBy,
  isOneOf,
  ofField,
  type Sql,
  type StoredValue,
  sql,
  storedValue,
} from './schema.js';

/** The column that a filter compares; undefined for attributes, lists and presence, which have no column. */
export function comparedColumn(table: RecordTable, filter: Filter): string | undefined {
  if (filter.operator === 'attribute' || filter.operator === 'search') return undefined;
  const spec = table.fields[filter.field];
  if (spec?.isList || spec?.type === 'presence') return undefined;
  return isFolded(table, filter) ? foldedColumnOf(filter.field) : columnOf(filter.field);
}

/**
 * The condition of a filter that compares one value of a row.
 * @param term the column; or `+column`, for which SQLite uses no index
 */
export function conditionOf(table: RecordTable, filter: Filter, term: string): Sql {
  if (filter.operator === 'attribute' || filter.operator === 'search')
    throw new Error('The filter compares no single value.');
  if (filter.operator === 'exists') return sql(`${term} IS ${filter.value ? 'NOT NULL' : 'NULL'}`);
  if ('values' in filter) {
    const isListed = isOneOf(
      term,
      filter.values.map((value) => comparedValue(table, filter, value)),
    );
    return filter.operator === 'in' ? isListed : anyOf([sql(`${term} IS NULL`), isListed]);
  }
  return filter.operator === 'ne'
    ? sql(`${term} <> ?`, comparedValue(table, filter, filter.value))
    : rangeCondition(term, rangeOf(table, [filter]));
}

/**
 * The path of an attribute (https://www.sqlite.org/json1.html, "Path Arguments"); null if no record has the key. SQLite
 * ends a key at a quotation mark, even behind a backslash, and at NUL.
 */
export function pathOf(key: string): string | null {
  if (key.includes('\0')) return null;
  return `$.attributes."${JSON.stringify(key).slice(1, -1).replaceAll('\\"', '\\u0022')}"`;
}

export interface Bound {
  readonly value: Value;
  readonly inclusive: boolean;
}

/** The values of one column that match its filters. */
export interface Range {
  readonly low?: Bound | undefined;
  readonly high?: Bound | undefined;
}

/** Whether the values that match a filter are one range of its column. */
export function isRange(filter: Filter): boolean {
  if (filter.operator === 'exists') return filter.value;
  return !['ne', 'in', 'inOrNone', 'attribute', 'search'].includes(filter.operator);
}

/** The lowest values. A comparison with one finds every value, and makes an index of existing values usable. */
const LOWEST = { text: '', integer: -Number.MAX_VALUE };
/** SQLite orders all numbers before all texts. */
const NUMBERS: Range = {
  low: { value: LOWEST.integer, inclusive: true },
  high: { value: LOWEST.text, inclusive: false },
};

/**
 * The range that all filters allow.
 * @param filters of one column or of one attribute, each a range
 */
export function rangeOf(table: RecordTable, filters: readonly Filter[]): Range {
  return intersection(filters.map((filter) => rangeOfOne(table, filter)));
}

function rangeOfOne(table: RecordTable, filter: Filter): Range {
  if (filter.operator === 'exists') {
    const lowest = table.fields[filter.field]?.type === 'text' ? LOWEST.text : LOWEST.integer;
    return { low: { value: lowest, inclusive: true } };
  }
  if ('comparison' in filter) return intersection([NUMBERS, comparedTo(filter.comparison, filter.number)]);
  if (filter.operator === 'attribute' || !('value' in filter)) return {};
  const value = comparedValue(table, filter, filter.value);
  return filter.operator === 'prefix' ? rangeOfPrefix(String(value)) : comparedTo(filter.operator, value);
}

function comparedTo(operator: Exclude<Comparison['operator'], 'prefix'>, value: Value): Range {
  const bound: Bound = { value, inclusive: operator.endsWith('e') || operator === 'eq' };
  if (operator === 'eq') return { low: bound, high: bound };
  return operator.startsWith('g') ? { low: bound } : { high: bound };
}

export function rangeOfPrefix(prefix: string): Range {
  const { from, before } = prefixRange(prefix);
  return {
    low: { value: from, inclusive: true },
    high: before === undefined ? undefined : { value: before, inclusive: false },
  };
}

/** The values that all ranges have. */
function intersection(ranges: readonly Range[]): Range {
  return ranges.reduce(
    (one, other) => ({ low: tighter(one.low, other.low, 1), high: tighter(one.high, other.high, -1) }),
    {},
  );
}

/** @param sign 1 for lower bounds, -1 for upper ones */
function tighter(a: Bound | undefined, b: Bound | undefined, sign: number): Bound | undefined {
  if (!a || !b) return a ?? b;
  const difference = sign * compareStored(a.value, b.value);
  return difference > 0 || (difference === 0 && !a.inclusive) ? a : b;
}

/** The part of a range that lies between two bounds, in the direction of a scan. */
export function narrowed(range: Range, descending: boolean, start?: Bound, end?: Bound): Range {
  return intersection([range, descending ? { low: end, high: start } : { low: start, high: end }]);
}

export function rangeCondition(column: string, { low, high }: Range): Sql {
  if (low && low === high) return sql(`${column} = ?`, low.value);
  return allOf([
    ...(low ? [sql(`${column} >${low.inclusive ? '=' : ''} ?`, low.value)] : []),
    ...(high ? [sql(`${column} <${high.inclusive ? '=' : ''} ?`, high.value)] : []),
  ]);
}

/** The most values that are looked up for a row one by one. Of more, and of ranges, all ids are found before. */
const MAX_PROBED = 4;

/** Rows of one index that match some filters. */
export interface IndexRange {
  /** The column of the table; absent: the rows are in another table, which has their `id`. */
  readonly column?: string;
  /** For `FROM`. */
  readonly source: string;
  readonly where: Sql;
  readonly coveredFilters: readonly Filter[];
  /** The number of different values, if they are listed. The rows of one value are in the order of ids. */
  readonly values?: number;
  /** Whether a record may have several of the rows. */
  readonly hasTwins?: boolean;
}

/** A statement of the ids of the rows. */
export function idsOfRange({ source, where }: IndexRange): Sql {
  return sql(`SELECT id FROM ${source} WHERE ${where.text}`, ...where.values);
}

/** Every way in which an index finds what filters match. */
export function indexRangesOf(table: RecordTable, filters: readonly Filter[]): IndexRange[] {
  const columns = new Map<string, Filter[]>();
  const ranges = new Map<string, AttributeFilter[]>();
  const indexRanges: IndexRange[] = [];
  const addTo = <Key, One>(all: Map<Key, One[]>, key: Key, one: One) => all.set(key, [...(all.get(key) ?? []), one]);
  for (const filter of filters) {
    const column = comparedColumn(table, filter);
    const indexRange = valuesRange(table, filter);
    if (indexRange) indexRanges.push(indexRange);
    else if ('comparison' in filter) addTo(ranges, filter.key, filter);
    else if (column !== undefined && (isRange(filter) || filter.operator === 'in')) addTo(columns, column, filter);
  }
  return [
    ...[...columns].map(([column, own]) => columnRange(table, column, own)),
    ...indexRanges,
    ...[...ranges.values()].map((own) => attributeRange(table, own)),
  ];
}

/** The rows in the order of a column that match those filters which are ranges of it. */
export function orderRange(table: RecordTable, column: string, filters: readonly Filter[]): IndexRange {
  const own = filters.filter((filter) => isRange(filter) && comparedColumn(table, filter) === column);
  const { where, ...indexRange } = columnRange(table, column, own);
  return { ...indexRange, where: column === ID ? where : allOf([sql(`${column} IS NOT NULL`), where]) };
}

/** @param filters each a range of the column, or a list of values */
function columnRange(table: RecordTable, column: string, filters: readonly Filter[]): IndexRange {
  const where = allOf(filters.map((filter) => conditionOf(table, filter, column)));
  const values = Math.min(...filters.map((filter) => listed(filter) ?? Number.POSITIVE_INFINITY));
  return { column, source: indexedBy(table, column), where, coveredFilters: filters, values };
}

function listed(filter: Filter): number | undefined {
  if (filter.operator === 'eq') return 1;
  return filter.operator === 'in' ? new Set(filter.values).size : undefined;
}

/** The rows of a filter of a list, or of one attribute. Comparisons of an attribute are one range together. */
function valuesRange(table: RecordTable, filter: Filter): IndexRange | undefined {
  const source = valuesTable(table.name);
  if (filter.operator === 'attribute') {
    if ('comparison' in filter) return undefined;
    const field = ofField(attributeName(filter.field, filter.key));
    if ('exists' in filter) return filter.exists ? { source, where: field, coveredFilters: [filter] } : undefined;
    const values: StoredValue[] = [...new Set(attributeValues(filter))].map(storedValue);
    return {
      source,
      where: allOf([field, isOneOf('value', values)]),
      coveredFilters: [filter],
      values: values.length,
    };
  }
  if (!table.fields[filter.field]?.isList || filter.operator === 'exists') return undefined;
  const where = allOf([ofField(filter.field), conditionOf(table, filter, 'value')]);
  const values = listed(filter);
  return {
    source,
    where,
    coveredFilters: [filter],
    ...(values !== undefined && { values }),
    hasTwins: values !== 1,
  };
}

function attributeRange(table: RecordTable, filters: readonly AttributeFilter[]): IndexRange {
  const [{ field, key }] = filters as [AttributeFilter];
  const where = allOf([ofField(attributeName(field, key)), rangeCondition('value', rangeOf(table, filters))]);
  return { source: valuesTable(table.name), where, coveredFilters: filters };
}

/**
 * The conditions of filters on each row of the table, for which SQLite uses no other index of the table.
 * @param indexRanges those of the filters
 */
export function conditionsOf(
  table: RecordTable,
  filters: readonly Filter[],
  indexRanges: readonly IndexRange[],
): Sql[] {
  const looked = indexRanges.filter(({ column }) => column === undefined);
  const residual = filters.filter((filter) => !looked.some(({ coveredFilters }) => coveredFilters.includes(filter)));
  return [
    ...residual.map((filter) => rowCondition(table, filter)),
    ...looked.map((indexRange) => lookupCondition(table, indexRange)),
  ];
}

function rowCondition(table: RecordTable, filter: Filter): Sql {
  const column = comparedColumn(table, filter);
  if (column !== undefined) return conditionOf(table, filter, `+${column}`);
  if (filter.operator !== 'attribute') return conditionOf(table, filter, `fields -> '$.${filter.field}'`);
  const { text, values } = ofField(attributeName(filter.field, filter.key));
  return sql(`${ID} NOT IN (SELECT id FROM ${valuesTable(table.name)} WHERE ${text})`, ...values);
}

/** The condition that a row has one of the rows of a range in another table. */
function lookupCondition({ name }: RecordTable, indexRange: IndexRange): Sql {
  const { text, values } = idsOfRange(indexRange);
  const isProbed = indexRange.values !== undefined && indexRange.values <= MAX_PROBED;
  return isProbed
    ? sql(`EXISTS (SELECT 1 FROM (${text}) AS own WHERE own.id = ${name}.id)`, ...values)
    : sql(`+${ID} IN (${text})`, ...values);
}
