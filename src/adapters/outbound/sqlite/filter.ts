import type {
  AttributeFilter,
  Comparison,
  Filter,
  RecordTable,
  Value,
} from '../../../application/records/list-query.js';
import {
  attributeValues,
  comparedValue,
  compareValues,
  isFolded,
  prefixRange,
} from '../../../application/records/query-semantics.js';
import { allOf, anyOf, columnOf, foldedColumnOf, type Sql, sql } from './schema.js';

const OPERATORS = { eq: '=', ne: '<>', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const;

/** The column that a filter compares; undefined for attributes, which have no column. */
export function comparedColumn(table: RecordTable, filter: Filter): string | undefined {
  if (filter.operator === 'attribute' || filter.operator === 'search') return undefined;
  return isFolded(table, filter) ? foldedColumnOf(filter.field) : columnOf(filter.field);
}

/**
 * The condition of a filter.
 * @param term the column; or `+column`, for which SQLite uses no index
 */
export function conditionOf(table: RecordTable, filter: Filter, term: string): Sql {
  if (filter.operator === 'attribute') return attributeCondition(filter);
  if (filter.operator === 'search') throw new Error('A search is no condition of SQL.');
  if (filter.operator === 'exists') return sql(`${term} IS ${filter.value ? 'NOT NULL' : 'NULL'}`);
  const compared = (value: string | number) => comparedValue(table, filter, value);
  if (filter.operator === 'in')
    return sql(`${term} IN (SELECT value FROM json_each(?))`, JSON.stringify(filter.values.map(compared)));
  const value = compared(filter.value);
  if (filter.operator !== 'prefix') return sql(`${term} ${OPERATORS[filter.operator]} ?`, value);
  return rangeCondition(term, rangeOfPrefix(String(value)));
}

/** A condition that uses no index: the scan has chosen one. */
export function residualConditionOf(table: RecordTable, filter: Filter): Sql {
  return conditionOf(table, filter, `+${comparedColumn(table, filter)}`);
}

/** The largest relative difference between two doubles that parsers make of the same text. */
const LAST_BITS = 1e-15;

/**
 * Searches the text of the fields for the attribute as `JSON.stringify` writes it, then parses only the texts that
 * contain it: much faster than parsing all. SQLite may read a number with another last bit than was written, so the
 * text is more exact than the value.
 */
function attributeCondition(filter: AttributeFilter): Sql {
  return anyOf(
    attributeValues(filter).map((value) => {
      const written = JSON.stringify({ [filter.key]: value }).slice(1, -1);
      const { text, values } = atomCondition(value);
      return sql(
        `instr(fields, ?) > 0 AND (instr(fields, ?) > 0 OR instr(fields, ?) > 0) AND EXISTS (
        SELECT 1 FROM json_each(fields, '$.attributes') WHERE key = ? AND ${text})`,
        written,
        `${written},`,
        `${written}}`,
        filter.key,
        ...values,
      );
    }),
  );
}

function atomCondition(value: string | number | boolean): Sql {
  if (typeof value === 'boolean') return sql(`type = '${value}'`);
  if (typeof value === 'string') return sql(`type = 'text' AND atom = ?`, value);
  return sql(`type IN ('integer', 'real') AND abs(atom - ?) <= ?`, value, Math.abs(value) * LAST_BITS);
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
  return !['ne', 'in', 'attribute', 'search'].includes(filter.operator);
}

/**
 * The range that all filters allow.
 * @param filters filters of one column, each a range
 */
export function rangeOf(table: RecordTable, filters: readonly Filter[]): Range {
  return filters
    .map((filter) => rangeOfOne(table, filter))
    .reduce<Range>(
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
  return a && b ? tighter(a, b, compareValues(a.value, b.value)) : (a ?? b);
}

/** The lower of two upper bounds. */
function tighterHigh(a: Bound | undefined, b: Bound | undefined): Bound | undefined {
  return a && b ? tighter(a, b, compareValues(b.value, a.value)) : (a ?? b);
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

function rangeOfPrefix(prefix: string): Range {
  const { from, before } = prefixRange(prefix);
  return {
    low: { value: from, inclusive: true },
    high: before === undefined ? undefined : { value: before, inclusive: false },
  };
}
