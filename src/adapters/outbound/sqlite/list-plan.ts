import type { Filter, ListQuery, RecordTable } from '../../../application/list-query.js';
import { comparedColumn, conditionOf } from './filter.js';
import type { IndexScan } from './index-scan.js';
import { scanOrder } from './list-order.js';
import { isRange, rangeCondition, rangeOf } from './range.js';
import type { Reader } from './reader.js';
import { columnOf, ID, indexedBy } from './schema.js';
import type { Sql } from './sql.js';

/** So many rows are read and sorted at once. */
const MAX_FEW = 1_000;
const MAX_FEW_BYTES = 1_048_576;
/** So few are read at once whatever their size. */
const NEVER_LARGE = 8;

/** How a list is read: along its order, or, where a filter leaves few rows, all of those, sorted each time. */
export type Plan = ScanPlan | FilterThenSort;

export interface ScanPlan {
  readonly kind: 'index-scan';
  readonly scan: IndexScan;
  /** Whether all rows on the way are in the list, and in its order. */
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

/** The same for counting, where the order is no matter. */
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
  /** The filters that hold wherever the scan goes. */
  readonly served: readonly Filter[];
}

function isEquality(filter: Filter): boolean {
  return filter.operator === 'eq' && filter.field !== 'id';
}

/** In order of id among the rows that have one value: an index ends with the id. */
function scanEqual(table: RecordTable, filter: Filter, descending: boolean): IndexedScan {
  const column = comparedColumn(table, filter) ?? ID;
  const fixed = conditionOf(table, filter, column);
  const scan = { source: indexedBy(table, column), column: ID, descending, idDescending: descending, fixed };
  return { scan, served: [filter] };
}

/** Along one column, as far as the filters of the same column allow. */
function scanColumn(
  table: RecordTable,
  way: Pick<IndexScan, 'column' | 'descending' | 'idDescending'>,
  filters: readonly Filter[],
): IndexedScan {
  const served = filters.filter((filter) => isRange(filter) && comparedColumn(table, filter) === way.column);
  const { low, high } = rangeOf(table, served);
  const [start, end] = way.descending ? [high, low] : [low, high];
  return { scan: { source: indexedBy(table, way.column), ...way, start, end }, served };
}

/** The rows that the filters of one column leave, where they are few; those of the column that leaves the fewest. */
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
    .map(([column, those]): FilterThenSort & { count: number } => {
      const source = indexedBy(table, column);
      const condition = seekCondition(table, column, those);
      return {
        kind: 'filter-then-sort',
        source,
        condition,
        count: countUpTo(reader, source, condition, MAX_FEW + 1),
      };
    })
    .sort((a, b) => a.count - b.count);
  if (!fewest || fewest.count > MAX_FEW) return undefined;
  return fewest.count <= NEVER_LARGE || bytesOf(reader, fewest) <= MAX_FEW_BYTES ? fewest : undefined;
}

/** What an index finds without passing any row that is not meant: some values, or one range. */
function seekCondition(table: RecordTable, column: string, filters: readonly Filter[]): Sql {
  const some = filters.find(({ operator }) => operator === 'eq' || operator === 'in');
  return some ? conditionOf(table, some, column) : rangeCondition(column, rangeOf(table, filters));
}

function countUpTo(reader: Reader, source: string, rows: Sql, limit: number): number {
  const text = `SELECT count(*) FROM (SELECT 1 FROM ${source} WHERE ${rows.text} LIMIT ?)`;
  return reader.read(text, (statement) => (statement.raw().get(...rows.values, limit) as [number])[0]);
}

/** What the fields take. Their length stands in front of them, so that they need not be read. */
function bytesOf(
  reader: Reader,
  { source, condition }: Pick<FilterThenSort, 'source' | 'condition'>,
): number {
  const text = `SELECT coalesce(sum(octet_length(fields)), 0) FROM ${source} WHERE ${condition.text}`;
  return reader.read(text, (statement) => (statement.raw().get(...condition.values) as [number])[0]);
}
