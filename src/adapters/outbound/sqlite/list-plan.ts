import type { Filter, ListQuery, Order, RecordTable } from '../../../application/list-query.js';
import { comparedValue, compareValues, prefixRange } from '../../../application/record-order.js';
import { columnOf, ID, indexedBy } from './columns.js';
import { comparedColumn, conditionOf } from './conditions.js';
import { readingOrder } from './list-order.js';
import { all, type Sql } from './sql.js';
import type { SqliteDatabase } from './sqlite-database.js';
import type { Bound, Walk } from './walk.js';

/** So many rows are read and sorted at once. */
const MAX_SORTED = 1_000;

/** How a list is read: along its order, or, where a filter leaves few rows, all of those, sorted each time. */
export type Plan =
  | { readonly kind: 'walk'; readonly walk: Walk; readonly isServed: boolean }
  | { readonly kind: 'few'; readonly source: string; readonly rows: Sql };

export function planOf(database: SqliteDatabase, table: RecordTable, query: ListQuery): Plan {
  const order = readingOrder(query);
  const equal = order[0]?.field === 'id' ? query.filters.find(isEquality) : undefined;
  const { walk, served } = equal
    ? equalityWalk(table, order, equal)
    : orderedWalk(table, order, query.filters);
  const isServed = query.filters.every((filter) => served.includes(filter));
  if (!isServed) {
    const few = fewRows(database, table, query.filters);
    if (few) return { kind: 'few', ...few };
  }
  return { kind: 'walk', walk, isServed: isServed && order.length <= 2 };
}

/** For counting, where the order is no matter. */
export function countingWalk(table: RecordTable, filters: readonly Filter[]): Walk {
  const equal = filters.find(isEquality);
  const field = equal?.field ?? filters.find(isRange)?.field ?? 'createdAt';
  return orderedWalk(table, [{ field, descending: false }], filters).walk;
}

function isEquality(filter: Filter): boolean {
  return filter.operator === 'eq' && filter.field !== 'id';
}

function isRange({ operator }: Filter): boolean {
  return !['ne', 'in', 'attribute'].includes(operator);
}

interface Served {
  readonly walk: Walk;
  /** The filters that hold wherever the walk goes. */
  readonly served: readonly Filter[];
}

/** In order of id among the rows that have one value: an index ends with the id. */
function equalityWalk(table: RecordTable, [key]: Order, filter: Filter): Served {
  const column = comparedColumn(table, filter) ?? ID;
  const { descending = false } = key ?? {};
  const walk: Walk = {
    source: indexedBy(table, column),
    column: ID,
    descending,
    idDescending: descending,
    fixed: conditionOf(table, filter, column),
  };
  return { walk, served: [filter] };
}

/** Along the first key of the order, as far as the filters of the same column allow. */
function orderedWalk(table: RecordTable, order: Order, filters: readonly Filter[]): Served {
  const [first, second] = order;
  const column = columnOf(first?.field ?? 'id');
  const descending = first?.descending ?? false;
  const served = filters.filter((filter) => isRange(filter) && comparedColumn(table, filter) === column);
  const { low, high } = rangeOf(table, served);
  const [start, end] = descending ? [high, low] : [low, high];
  const walk: Walk = {
    source: indexedBy(table, column),
    column,
    descending,
    idDescending: second?.field === 'id' ? second.descending : descending,
    ...(start && { start }),
    ...(end && { end }),
  };
  return { walk, served };
}

interface Range {
  readonly low?: Bound | undefined;
  readonly high?: Bound | undefined;
}

function rangeOf(table: RecordTable, filters: readonly Filter[]): Range {
  return filters
    .map((filter) => rangeOfOne(table, filter))
    .reduce<Range>(
      (range, { low, high }) => ({
        low: tighter(range.low, low, 1),
        high: tighter(range.high, high, -1),
      }),
      {},
    );
}

function rangeOfOne(table: RecordTable, filter: Filter): Range {
  if (filter.operator === 'attribute' || filter.operator === 'in') return {};
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
    case 'prefix': {
      const { from, before } = prefixRange(String(value));
      return {
        low: { value: from, inclusive: true },
        ...(before !== undefined && { high: { value: before, inclusive: false } }),
      };
    }
    default:
      return {};
  }
}

/** @param sign 1 for the lower bound, of which the higher is tighter, and -1 for the upper */
function tighter(a: Bound | undefined, b: Bound | undefined, sign: 1 | -1): Bound | undefined {
  if (!a || !b) return a ?? b;
  const difference = compareValues(a.value, b.value) * sign;
  if (difference === 0) return a.inclusive ? b : a;
  return difference > 0 ? a : b;
}

/** The rows that the filters of one column leave, where they are few; those of the column that leaves the fewest. */
function fewRows(
  database: SqliteDatabase,
  table: RecordTable,
  filters: readonly Filter[],
): { readonly source: string; readonly rows: Sql } | undefined {
  const columns = new Map<string, Filter[]>();
  for (const filter of filters) {
    const column = filter.operator === 'ne' ? undefined : comparedColumn(table, filter);
    if (column !== undefined) columns.set(column, [...(columns.get(column) ?? []), filter]);
  }
  const candidates = [...columns].map(([column, those]) => {
    const source = indexedBy(table, column);
    const rows = all(those.map((filter) => conditionOf(table, filter, column)));
    return { source, rows, count: countUpTo(database, source, rows, MAX_SORTED + 1) };
  });
  const [fewest] = candidates.sort((a, b) => a.count - b.count);
  return fewest && fewest.count <= MAX_SORTED ? fewest : undefined;
}

function countUpTo(database: SqliteDatabase, source: string, rows: Sql, limit: number): number {
  const text = `SELECT count(*) FROM (SELECT 1 FROM ${source} WHERE ${rows.text} LIMIT ?)`;
  return database.read(text, (statement) => (statement.raw().get(...rows.values, limit) as [number])[0]);
}
