import type { Filter, ListQuery, RecordTable } from '../../../../application/records/list-query.js';
import type { Reader } from '../connection/connection.js';
import {
  comparedColumn,
  conditionOf,
  isRange,
  narrowed,
  rangeCondition,
  rangeOf,
  residualConditionsOf,
  rowCost,
} from '../records/filter.js';
import {
  columnOf,
  ID,
  indexedBy,
  keysetCondition,
  numberOf,
  type Sql,
  scanOrder,
  sql,
} from '../records/schema.js';
import type { Checkpoints } from './adaptive-batch-size.js';
import { type IndexScan, type Place, type Start, startAt } from './index-scan.js';

/** The most rows, and their most bytes, that are read and sorted at once; fewer rows if each one costs more. */
const MAX_SORTED_ROWS = 1_000;
const MAX_SORTED_BYTES = 1_048_576;

/** An index holds exactly the records of the list, in their order. */
interface IndexedPlan {
  readonly kind: 'indexed';
  readonly scan: IndexScan;
}

/** The index of a filter leaves few rows. */
export interface SortPlan {
  readonly kind: 'sort';
  readonly source: string;
  readonly conditions: readonly Sql[];
}

/** Each row of a scan is checked. */
export interface ScanPlan {
  readonly kind: 'scan';
  readonly scan: IndexScan;
  readonly start?: Start | undefined;
  /** What each row must match, besides being part of the scan. */
  readonly conditions: readonly Sql[];
  /** What of the scan has the order of the list: each row, only rows that do not tie, or nothing. */
  readonly sorted: 'rows' | 'ties' | 'nothing';
  /** Absent: all rows of the scan. */
  readonly slices?: Slices;
}

/** A part of the rows of a search. */
export interface Slice {
  readonly ranges: readonly Sql[];
  /** The last row; undefined in the last slice. */
  readonly end: Place | undefined;
}

/**
 * @param nextSize waits until the next slice may be read, and returns its number of rows
 * @param time for work of another kind
 */
export type Slices = (
  nextSize: () => Promise<number>,
  time: Checkpoints,
) => AsyncGenerator<Slice, void, void>;

export function planList(
  reader: Reader,
  table: RecordTable,
  query: ListQuery,
): IndexedPlan | SortPlan | ScanPlan {
  const { filters, from } = query;
  const order = scanOrder(query);
  const [first, second] = order;
  const { field, descending } = first ?? { field: 'id', descending: false };
  const { scan, conditions } = scanOf(table, columnOf(field), descending, filters);
  if (order.length <= 2 && conditions.length === 0)
    return { kind: 'indexed', scan: { ...scan, idDescending: second?.descending ?? descending } };
  const found = smallestIndexRange(reader, table, filters);
  if (found?.kind === 'sort') return found;
  const position = from ? [keysetCondition(order, from)] : [];
  if (found) return { ...found, conditions: [...found.conditions, ...position] };
  return planScan(table, query);
}

/** Plans a list that an index gives in its order, or nearly so. */
export function planScan(table: RecordTable, query: ListQuery): ScanPlan {
  const { filters, from } = query;
  const order = scanOrder(query);
  const [first, second] = order;
  const { field, descending } = first ?? { field: 'id', descending: false };
  const { scan, conditions } = scanOf(table, columnOf(field), descending, filters);
  const position = from ? [keysetCondition(order, from)] : [];
  const all = { kind: 'scan', conditions: [...conditions, ...position] } as const;
  if (order.length === 1 || (order.length === 2 && second?.descending === descending))
    return { ...all, scan, start: from && startAt(from), sorted: 'rows' };
  const [value] = from?.values ?? [];
  const start = value === undefined ? undefined : { value, inclusive: true };
  const range = narrowed(scan.range, descending, start);
  return { ...all, scan: { ...scan, range }, sorted: 'ties' };
}

/** Plans a count, as {@link planList} plans a list. A count needs no order. */
export function planCount(
  reader: Reader,
  table: RecordTable,
  filters: readonly Filter[],
): SortPlan | ScanPlan {
  const found = smallestIndexRange(reader, table, filters);
  if (found) return found;
  const ranged = filters.find(isRange);
  const column = filters.some(isEquality)
    ? ID
    : ((ranged && comparedColumn(table, ranged)) ?? columnOf('createdAt'));
  return { kind: 'scan', ...scanOf(table, column, false, filters), sorted: 'nothing' };
}

function isEquality(filter: Filter): boolean {
  return filter.operator === 'eq' && filter.field !== 'id';
}

/**
 * The rows in the order of a column, within the range that the filters of this column allow. In order of id, these can
 * be the rows with one value of another column, because every index ends with the id.
 */
function scanOf(
  table: RecordTable,
  column: string,
  descending: boolean,
  filters: readonly Filter[],
): Pick<ScanPlan, 'scan' | 'conditions'> {
  const ranged = filters.filter((filter) => isRange(filter) && comparedColumn(table, filter) === column);
  const equal = column === ID ? filters.find(isEquality) : undefined;
  const indexed = (equal && comparedColumn(table, equal)) ?? column;
  const rest = filters.filter((filter) => filter !== equal && !ranged.includes(filter));
  return {
    scan: {
      source: indexedBy(table, indexed),
      column,
      descending,
      idDescending: descending,
      range: rangeOf(table, ranged),
      ...(equal && { fixed: conditionOf(table, equal, indexed) }),
    },
    conditions: residualConditionsOf(table, rest),
  };
}

/**
 * The rows of the column whose filters leave the fewest; undefined if even those are many. If they are large, or
 * costly to check, they are searched in slices.
 */
export function smallestIndexRange(
  reader: Reader,
  table: RecordTable,
  filters: readonly Filter[],
): SortPlan | ScanPlan | undefined {
  const columns = new Map<string, Filter[]>();
  for (const filter of filters) {
    const isSeek = filter.operator === 'in' || filter.operator === 'eq' || isRange(filter);
    const column = isSeek ? comparedColumn(table, filter) : undefined;
    if (column !== undefined) columns.set(column, [...(columns.get(column) ?? []), filter]);
  }
  const [fewest] = [...columns]
    .map(([column, ownFilters]) => {
      const source = indexedBy(table, column);
      const seek = seekCondition(table, column, ownFilters);
      const rows = `SELECT count(*) FROM (SELECT 1 FROM ${source} WHERE ${seek.text} LIMIT ?)`;
      return { source, seek, count: numberOf(reader, sql(rows, ...seek.values, MAX_SORTED_ROWS + 1)) };
    })
    .sort((a, b) => a.count - b.count);
  if (!fewest || fewest.count > MAX_SORTED_ROWS) return undefined;
  const { source, seek } = fewest;
  const conditions = residualConditionsOf(table, filters);
  // SQLite stores the size of the fields in front of them, so it does not read them here.
  const size = `SELECT coalesce(sum(octet_length(fields)), 0) FROM ${source} WHERE ${seek.text}`;
  const isCheap = fewest.count * rowCost(filters) <= MAX_SORTED_ROWS;
  if (isCheap && numberOf(reader, sql(size, ...seek.values)) <= MAX_SORTED_BYTES)
    return { kind: 'sort', source, conditions: [seek, ...conditions] };
  const scan = { source, column: ID, descending: false, idDescending: false, range: {}, fixed: seek };
  return { kind: 'scan', scan, conditions, sorted: 'nothing' };
}

/** A condition that an index finds without reading other rows: some values, or one range. */
function seekCondition(table: RecordTable, column: string, filters: readonly Filter[]): Sql {
  const values = filters.find(({ operator }) => operator === 'eq' || operator === 'in');
  return values ? conditionOf(table, values, column) : rangeCondition(column, rangeOf(table, filters));
}
