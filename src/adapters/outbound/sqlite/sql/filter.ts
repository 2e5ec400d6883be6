import type { Comparison, FacetValue, Filter, RecordTable, Value } from '../../../../application/ports/list-query.js';
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

/** The values that a filter lists, one of which a record has. */
export function listedValues(filter: Filter): readonly FacetValue[] | undefined {
  if (filter.operator === 'eq') return [filter.value];
  if (filter.operator !== 'attribute') return 'values' in filter ? filter.values : undefined;
  return 'comparison' in filter || 'exists' in filter ? undefined : attributeValues(filter);
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
}

/** A statement of the ids of the rows. */
export function idsOfRange({ source, where }: Pick<IndexRange, 'source' | 'where'>): Sql {
  return sql(`SELECT id FROM ${source} WHERE ${where.text}`, ...where.values);
}

/** Every way in which an index finds what filters match. Those of one column, or range of an attribute, are one. */
export function indexRangesOf(table: RecordTable, filters: readonly Filter[]): IndexRange[] {
  const groups = new Map<string, Filter[]>();
  for (const filter of filters) {
    const name = indexedName(table, filter);
    if (name !== undefined) groups.set(name, [...(groups.get(name) ?? []), filter]);
  }
  return [...groups.values()].map((own) => indexRangeOf(table, own));
}

/** What an index has for a filter; undefined if none leads to its records. */
function indexedName(table: RecordTable, filter: Filter): string | undefined {
  const isIndexed = isRange(filter) || listedValues(filter) !== undefined;
  if (filter.operator === 'attribute') {
    if ('comparison' in filter) return attributeName(filter.field, filter.key);
    return 'exists' in filter && !filter.exists ? undefined : JSON.stringify(filter);
  }
  if (table.fields[filter.field]?.isList) return filter.operator === 'exists' ? undefined : JSON.stringify(filter);
  return isIndexed && filter.operator !== 'inOrNone' ? comparedColumn(table, filter) : undefined;
}

/** @param filters of one column, one list or one attribute */
function indexRangeOf(table: RecordTable, filters: readonly Filter[]): IndexRange {
  const [filter] = filters as readonly [Filter];
  const column = comparedColumn(table, filter);
  const numbers = filters.map((one) => new Set(listedValues(one)).size).filter((number) => number > 0);
  const range = { coveredFilters: filters, ...(numbers.length > 0 && { values: Math.min(...numbers) }) };
  if (column !== undefined) {
    const where = allOf(filters.map((one) => conditionOf(table, one, column)));
    return { ...range, column, source: indexedBy(table, column), where };
  }
  const field = filter.operator === 'attribute' ? attributeName(filter.field, filter.key) : filter.field;
  return { ...range, source: valuesTable(table.name), where: allOf([ofField(field), valueCondition(table, filters)]) };
}

/** The condition of filters of one list or one attribute on its values in another table. */
function valueCondition(table: RecordTable, filters: readonly Filter[]): Sql {
  const [filter] = filters as readonly [Filter];
  if (filter.operator !== 'attribute') return conditionOf(table, filter, 'value');
  if ('comparison' in filter) return rangeCondition('value', rangeOf(table, filters));
  const values = listedValues(filter);
  return values ? isOneOf('value', [...new Set(values)].map(storedValue)) : sql('TRUE');
}

/** The rows in the order of a column that match those filters which are ranges of it. */
export function orderRange(table: RecordTable, column: string, filters: readonly Filter[]): IndexRange {
  const own = filters.filter((filter) => isRange(filter) && comparedColumn(table, filter) === column);
  const exists = column === ID ? [] : [sql(`${column} IS NOT NULL`)];
  const where = allOf([...exists, ...own.map((filter) => conditionOf(table, filter, column))]);
  return { column, source: indexedBy(table, column), where, coveredFilters: own };
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
function lookupCondition({ name }: RecordTable, { values = Number.POSITIVE_INFINITY, ...range }: IndexRange): Sql {
  const ids = idsOfRange(range);
  return values <= MAX_PROBED
    ? sql(`EXISTS (SELECT 1 FROM (${ids.text}) AS own WHERE own.id = ${name}.id)`, ...ids.values)
    : sql(`+${ID} IN (${ids.text})`, ...ids.values);
}
