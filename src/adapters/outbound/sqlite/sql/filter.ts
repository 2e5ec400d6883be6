import type {
  AttributeFilter,
  Comparison,
  Filter,
  Membership,
  OptionalMembership,
  RecordTable,
  Value,
} from '../../../../application/ports/list-query.js';
import { comparedValue, isFolded, prefixRange } from '../../../../application/records/query-semantics.js';
import { allOf, anyOf, columnOf, compareStored, foldedColumnOf, isOneOf, type Sql, sql } from './schema.js';

const OPERATORS = { eq: '=', ne: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const;

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
  const values = comparedValues(table, filter);
  if (filter.operator === 'in') return isOneOf(term, values);
  if (filter.operator === 'inOrNone') return anyOf([sql(`${term} IS NULL`), isOneOf(term, values)]);
  const [value] = values;
  if (filter.operator !== 'prefix') return sql(`${term} ${OPERATORS[filter.operator]} ?`, value);
  return rangeCondition(term, rangeOfPrefix(String(value)));
}

/**
 * The path of an attribute (https://www.sqlite.org/json1.html, "Path Arguments"); null if no record has the key. SQLite
 * ends a key at a quotation mark, even behind a backslash, and at NUL.
 */
export function pathOf(key: string): string | null {
  if (key.includes('\0')) return null;
  return `$.attributes."${JSON.stringify(key).slice(1, -1).replaceAll('\\"', '\\u0022')}"`;
}

/** The values of a filter as they are compared. */
function comparedValues(
  table: RecordTable,
  filter: Comparison | Membership | OptionalMembership,
): readonly Value[] {
  const values = 'values' in filter ? filter.values : [filter.value];
  return values.map((value) => comparedValue(table, filter, value));
}

/** The values that filters of one attribute allow: numbers if they compare numbers, else all. */
export function attributeRange(filters: readonly AttributeFilter[]): Range {
  const bounds = filters.flatMap((filter): Range[] => {
    if (!('comparison' in filter)) return [];
    const bound = { value: filter.number, inclusive: filter.comparison.endsWith('e') };
    return [filter.comparison.startsWith('g') ? { low: bound } : { high: bound }];
  });
  if (bounds.length === 0) return {};
  const { low, high } = intersection(bounds);
  // SQLite orders all numbers before all texts.
  return {
    low: low ?? { value: LOWEST.integer, inclusive: true },
    high: high ?? { value: LOWEST.text, inclusive: false },
  };
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

/**
 * The range that all filters allow.
 * @param filters filters of one column, each a range
 */
export function rangeOf(table: RecordTable, filters: readonly Filter[]): Range {
  return intersection(filters.map((filter) => rangeOfOne(table, filter)));
}

function intersection(ranges: readonly Range[]): Range {
  return ranges.reduce<Range>(
    (range, { low, high }) => ({ low: tighterLow(range.low, low), high: tighterHigh(range.high, high) }),
    {},
  );
}

export function rangeCondition(column: string, { low, high }: Range): Sql {
  return allOf([
    ...(low ? [sql(`${column} >${low.inclusive ? '=' : ''} ?`, low.value)] : []),
    ...(high ? [sql(`${column} <${high.inclusive ? '=' : ''} ?`, high.value)] : []),
  ]);
}

/** The part of a range that lies between two bounds, in the direction of a scan. */
export function narrowed(range: Range, descending: boolean, start?: Bound, end?: Bound): Range {
  const [low, high] = descending ? [end, start] : [start, end];
  return { low: tighterLow(range.low, low), high: tighterHigh(range.high, high) };
}

export function contains({ low, high }: Range, value: Value): boolean {
  const here: Bound = { value, inclusive: true };
  return tighterLow(low, here) === here && tighterHigh(high, here) === here;
}

/** The higher of two lower bounds. */
function tighterLow(a: Bound | undefined, b: Bound | undefined): Bound | undefined {
  return a && b ? tighter(a, b, compareStored(a.value, b.value)) : (a ?? b);
}

/** The lower of two upper bounds. */
function tighterHigh(a: Bound | undefined, b: Bound | undefined): Bound | undefined {
  return a && b ? tighter(a, b, compareStored(b.value, a.value)) : (a ?? b);
}

function tighter(a: Bound, b: Bound, difference: number): Bound {
  if (difference === 0) return a.inclusive ? b : a;
  return difference > 0 ? a : b;
}

function isValueFilter(filter: Filter): filter is Comparison {
  return 'value' in filter && !['attribute', 'exists'].includes(filter.operator);
}

/** The lowest values. A comparison with one finds every value, and makes an index of existing values usable. */
const LOWEST = { text: '', integer: -Number.MAX_VALUE };

function rangeOfOne(table: RecordTable, filter: Filter): Range {
  if (filter.operator === 'exists') {
    const lowest = table.fields[filter.field]?.type === 'text' ? LOWEST.text : LOWEST.integer;
    return { low: { value: lowest, inclusive: true } };
  }
  if (!isValueFilter(filter)) return {};
  const value = comparedValue(table, filter, filter.value);
  const bound = (inclusive: boolean): Bound => ({ value, inclusive });
  switch (filter.operator) {
    case 'eq':
      return { low: bound(true), high: bound(true) };
    case 'gt':
    case 'gte':
      return { low: bound(filter.operator === 'gte') };
    case 'lt':
    case 'lte':
      return { high: bound(filter.operator === 'lte') };
    case 'prefix':
      return rangeOfPrefix(String(value));
    default:
      return {};
  }
}

export function rangeOfPrefix(prefix: string): Range {
  const { from, before } = prefixRange(prefix);
  return {
    low: { value: from, inclusive: true },
    high: before === undefined ? undefined : { value: before, inclusive: false },
  };
}
