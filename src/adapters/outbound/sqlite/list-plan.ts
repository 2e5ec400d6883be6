import type { Filter, ListQuery, RecordTable } from '../../../application/records/list-query.js';
import type { Reader } from './connection.js';
import { comparedColumn, conditionOf, isRange, rangeCondition, rangeOf } from './filter.js';
import { type IndexScan, scanOrder } from './index-scan.js';
import { columnOf, ID, indexedBy, type Sql } from './schema.js';

/** The most rows and bytes that are read and sorted at once. */
const MAX_SORTED_ROWS = 1_000;
const MAX_SORTED_BYTES = 1_048_576;
/** Up to this many rows are sorted at once, even if they are large. */
const ALWAYS_SORTED_ROWS = 8;

/** Scan the index of the list's order or, if a filter leaves few rows, fetch and sort these. */
export type Plan = ScanPlan | FilterThenSort;

export interface ScanPlan {
  readonly kind: 'index-scan';
  readonly scan: IndexScan;
  /** Whether every row of the scan is in the list, and in its order. */
  readonly isIndexed: boolean;
}

export interface FilterThenSort {
  readonly kind: 'filter-then-sort';
  readonly source: string;
  readonly condition: Sql;
}

export function planList(reader: Reader, table: RecordTable, query: ListQuery): Plan {
  const order = scanOrder(query);
  const [first, second] = order;
  const equal = first?.field === 'id' ? query.filters.find(isEquality) : undefined;
  const column = columnOf(first?.field ?? 'id');
  const descending = first?.descending ?? false;
  const idDescending = second?.field === 'id' ? second.descending : descending;
  const { scan, served } = equal
    ? scanEqual(table, equal, descending)
    : scanColumn(table, { column, descending, idDescending }, query.filters);
  const isFiltered = query.filters.every((filter) => served.includes(filter));
  const few = isFiltered ? undefined : filterThenSort(reader, table, query.filters);
  return few ?? { kind: 'index-scan', scan, isIndexed: isFiltered && order.length <= 2 };
}

/** Plans a count, as {@link planList} plans a list. A count needs no order. */
export function planCount(reader: Reader, table: RecordTable, filters: readonly Filter[]): Plan {
  const few = filterThenSort(reader, table, filters);
  if (few) return few;
  const equal = filters.find(isEquality);
  const ranged = filters.find(isRange);
  const column = (ranged && comparedColumn(table, ranged)) ?? columnOf('createdAt');
  const { scan, served } = equal
    ? scanEqual(table, equal, false)
    : scanColumn(table, { column, descending: false, idDescending: false }, filters);
  return { kind: 'index-scan', scan, isIndexed: filters.every((filter) => served.includes(filter)) };
}

interface IndexedScan {
  readonly scan: IndexScan;
  /** The filters that every row of the scan matches. */
  readonly served: readonly Filter[];
}

function isEquality(filter: Filter): boolean {
  return filter.operator === 'eq' && filter.field !== 'id';
}

/** The rows with one value, in order of id: every index ends with the id. */
function scanEqual(table: RecordTable, filter: Filter, descending: boolean): IndexedScan {
  const column = comparedColumn(table, filter) ?? ID;
  const fixed = conditionOf(table, filter, column);
  const scan = { source: indexedBy(table, column), column: ID, descending, idDescending: descending, fixed };
  return { scan, served: [filter] };
}

/** The rows in the order of one column, within the range that the filters of this column allow. */
function scanColumn(
  table: RecordTable,
  direction: Pick<IndexScan, 'column' | 'descending' | 'idDescending'>,
  filters: readonly Filter[],
): IndexedScan {
  const { column, descending } = direction;
  const served = filters.filter((filter) => isRange(filter) && comparedColumn(table, filter) === column);
  const { low, high } = rangeOf(table, served);
  const [start, end] = descending ? [high, low] : [low, high];
  return { scan: { source: indexedBy(table, column), ...direction, start, end }, served };
}

/** The plan for the column whose filters leave the fewest rows; undefined if even those are many. */
function filterThenSort(
  reader: Reader,
  table: RecordTable,
  filters: readonly Filter[],
): FilterThenSort | undefined {
  const columns = new Map<string, Filter[]>();
  for (const filter of filters) {
    const column = filter.operator === 'ne' ? undefined : comparedColumn(table, filter);
    if (column !== undefined) columns.set(column, [...(columns.get(column) ?? []), filter]);
  }
  const [fewest] = [...columns]
    .map(([column, ownFilters]): FilterThenSort & { count: number } => {
      const source = indexedBy(table, column);
      const condition = seekCondition(table, column, ownFilters);
      const count = countUpTo(reader, source, condition, MAX_SORTED_ROWS + 1);
      return { kind: 'filter-then-sort', source, condition, count };
    })
    .sort((a, b) => a.count - b.count);
  if (!fewest || fewest.count > MAX_SORTED_ROWS) return undefined;
  const isSmall = fewest.count <= ALWAYS_SORTED_ROWS || bytesOf(reader, fewest) <= MAX_SORTED_BYTES;
  return isSmall ? fewest : undefined;
}

/** A condition that an index finds without reading other rows: some values, or one range. */
function seekCondition(table: RecordTable, column: string, filters: readonly Filter[]): Sql {
  const values = filters.find(({ operator }) => operator === 'eq' || operator === 'in');
  return values ? conditionOf(table, values, column) : rangeCondition(column, rangeOf(table, filters));
}

function countUpTo(reader: Reader, source: string, condition: Sql, limit: number): number {
  const text = `SELECT count(*) FROM (SELECT 1 FROM ${source} WHERE ${condition.text} LIMIT ?)`;
  return reader.read(text, (statement) => (statement.raw().get(...condition.values, limit) as [number])[0]);
}

/** The size of the fields in bytes. SQLite stores the size in front of them, so it does not read the fields. */
function bytesOf(
  reader: Reader,
  { source, condition }: Pick<FilterThenSort, 'source' | 'condition'>,
): number {
  const text = `SELECT coalesce(sum(octet_length(fields)), 0) FROM ${source} WHERE ${condition.text}`;
  return reader.read(text, (statement) => (statement.raw().get(...condition.values) as [number])[0]);
}
