import {
  BY_ID,
  type Filter,
  type ListQuery,
  type RecordTable,
} from '../../../../application/ports/list-query.js';
import { hasOnlyIdFilters, idRange, isAscendingRead } from '../../../../application/search/id-range.js';
import type { Reader } from '../connection/connection.js';
import { hasIndex, searchedWords, type WordQuery } from '../full-text/search.js';
import {
  comparedColumn,
  conditionOf,
  isRange,
  narrowed,
  rangeCondition,
  rangeOf,
  residualConditionsOf,
  rowCost,
} from '../sql/filter.js';
import {
  columnOf,
  ID,
  indexedBy,
  keysetCondition,
  numberOf,
  type Sql,
  scanOrder,
  sql,
} from '../sql/schema.js';
import { type IndexScan, type Start, startAt } from './index-scan.js';

/** The most rows, and their most bytes, that are read and sorted at once; fewer rows if each one costs more. */
const MAX_SORTED_ROWS = 1_000;
const MAX_SORTED_BYTES = 1_048_576;

/** How a list is read. A plan is plain data. */
export type ListPlan = RangePlan | BlocksPlan | SortPlan | ScanPlan;

/** An index holds exactly the records of the list, in their order. */
interface RangePlan {
  readonly kind: 'range';
  readonly scan: IndexScan;
}

/** The index of words holds exactly the records of the list, and in each of its blocks in their order. */
interface BlocksPlan {
  readonly kind: 'blocks';
  readonly search: WordQuery;
}

/** The index of a filter leaves few rows. */
export interface SortPlan {
  readonly kind: 'sort';
  readonly source: string;
  readonly conditions: readonly Sql[];
}

/** What of some rows has the order of the list: each row, only rows that do not tie, or nothing. */
export type Sorted = 'rows' | 'ties' | 'nothing';

/** Each row of a scan is checked. */
export interface ScanPlan {
  readonly kind: 'scan';
  /** What the rows are checked in: the index of the scan; those of a search are looked up by id. */
  readonly source: string;
  readonly scan: IndexScan;
  readonly start?: Start | undefined;
  /** What each row must match, besides being part of the scan. */
  readonly conditions: readonly Sql[];
  readonly sorted: Sorted;
  /** Whether the time of queries limits it. Without a limit, each of its steps is short. */
  readonly isLimited: boolean;
  readonly search?: PlannedSearch;
}

/**
 * - `blocks`: the rows are those of the index of words; the scan is by id.
 * - `rows`: the texts of the rows of the scan are compared.
 * - `matches`: the ids of all matching records are collected. If they are few, these are the rows; else the rows are
 *   those of the scan that are among them.
 */
export interface PlannedSearch extends WordQuery {
  readonly by: 'blocks' | 'rows' | 'matches';
}

type Query = Pick<ListQuery, 'filters' | 'order' | 'from'>;

export function planList(reader: Reader, table: RecordTable, query: ListQuery): ListPlan {
  const words = searchedWords(query.filters);
  if (words) {
    const plan = planSearch(reader, table, query, words);
    const isDirect = plan.search.by === 'blocks' && plan.conditions.length === 0 && !plan.isLimited;
    return isDirect ? { kind: 'blocks', search: plan.search } : plan;
  }
  const { order, scan, conditions } = orderedScan(table, query);
  const [first, second = first] = order;
  if (order.length <= 2 && conditions.length === 0)
    return { kind: 'range', scan: { ...scan, idDescending: second?.descending === true } };
  const few = smallestIndexRange(reader, table, query.filters);
  return few ? planFew(few, positionIn(query)) : planScan(table, query);
}

/** Plans a count, as {@link planList} plans a list. A count needs no order. */
export function planCount(
  reader: Reader,
  table: RecordTable,
  filters: readonly Filter[],
): SortPlan | ScanPlan {
  const words = searchedWords(filters);
  if (words) return planSearch(reader, table, { filters, order: BY_ID }, words);
  const few = smallestIndexRange(reader, table, filters);
  if (few) return planFew(few);
  const ranged = filters.find(isRange);
  const column = filters.some(isEquality)
    ? ID
    : ((ranged && comparedColumn(table, ranged)) ?? columnOf('createdAt'));
  const all = scanOf(table, column, false, filters);
  return { kind: 'scan', source: all.scan.source, ...all, sorted: 'nothing', isLimited: true };
}

/** Plans a list that an index gives in its order, or nearly so. */
function planScan(table: RecordTable, query: Query): ScanPlan {
  const { order, scan, conditions } = orderedScan(table, query);
  const [, second] = order;
  const plan = { kind: 'scan', source: scan.source, isLimited: true } as const;
  const all = { ...plan, conditions: [...conditions, ...positionIn(query)] };
  if (order.length === 1 || (order.length === 2 && second?.descending === scan.descending))
    return { ...all, scan, start: query.from && startAt(query.from), sorted: 'rows' };
  const [value] = query.from?.values ?? [];
  const start = value === undefined ? undefined : { value, inclusive: true };
  const range = narrowed(scan.range, scan.descending, start);
  return { ...all, scan: { ...scan, range }, sorted: 'ties' };
}

/** The scan of the first key of an order. */
function orderedScan(table: RecordTable, query: Query) {
  const order = scanOrder(query);
  const [{ field, descending } = { field: 'id', descending: false }] = order;
  return { order, ...scanOf(table, columnOf(field), descending, query.filters) };
}

/** The condition on what follows the position of a list. */
function positionIn({ order, from }: Query): Sql[] {
  return from ? [keysetCondition(scanOrder({ order, from }), from)] : [];
}

function planSearch(
  reader: Reader,
  table: RecordTable,
  query: Query,
  words: readonly string[],
): ScanPlan & { readonly search: PlannedSearch } {
  const order = scanOrder(query);
  const filters = query.filters.filter(({ operator }) => operator !== 'search');
  const isLimited = !hasOnlyIdFilters(filters) || !hasIndex(reader, table, words);
  const search = { words, ids: idRange(query), descending: !isAscendingRead(query) };
  const source = indexedBy(table, ID);
  const plan = { kind: 'scan', source, scan: byId(source), isLimited } as const;
  // The range of ids has these filters and the position.
  const others = filters.filter((filter) => filter.field !== 'id' || !isRange(filter));
  const few = others.length > 0 ? smallestIndexRange(reader, table, filters) : undefined;
  if (few?.isCheap) {
    const conditions = [...few.conditions, ...positionIn(query)];
    return { ...plan, scan: few.scan, conditions, sorted: 'nothing', search: { ...search, by: 'rows' } };
  }
  if (order.length === 1) {
    const conditions = residualConditionsOf(table, others);
    return { ...plan, conditions, sorted: 'rows', search: { ...search, by: 'blocks' } };
  }
  return {
    ...planScan(table, { ...query, filters }),
    source,
    conditions: [...residualConditionsOf(table, filters), ...positionIn(query)],
    isLimited,
    search: { ...search, descending: false, by: 'matches' },
  };
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

/** Few rows, which an index finds. */
interface SmallRange extends Pick<ScanPlan, 'conditions'> {
  readonly scan: IndexScan & { readonly fixed: Sql };
  /** Whether they can be read and sorted at once. */
  readonly isCheap: boolean;
}

/** The rows of the column whose filters leave the fewest; undefined if even those are many. */
function smallestIndexRange(
  reader: Reader,
  table: RecordTable,
  filters: readonly Filter[],
): SmallRange | undefined {
  const columns = new Map<string, Filter[]>();
  for (const filter of filters) {
    const isSeek = filter.operator === 'in' || filter.operator === 'eq' || isRange(filter);
    const column = isSeek ? comparedColumn(table, filter) : undefined;
    if (column !== undefined) columns.set(column, [...(columns.get(column) ?? []), filter]);
  }
  const [smallest] = [...columns]
    .map(([column, ownFilters]) => {
      const source = indexedBy(table, column);
      const fixed = seekCondition(table, column, ownFilters);
      const rows = `SELECT count(*) FROM (SELECT 1 FROM ${source} WHERE ${fixed.text} LIMIT ?)`;
      return { source, fixed, count: numberOf(reader, sql(rows, ...fixed.values, MAX_SORTED_ROWS + 1)) };
    })
    .sort((a, b) => a.count - b.count);
  if (!smallest || smallest.count > MAX_SORTED_ROWS) return undefined;
  const { source, fixed, count } = smallest;
  // SQLite stores the size of the fields in front of them, so it does not read them here.
  const size = `SELECT coalesce(sum(octet_length(fields)), 0) FROM ${source} WHERE ${fixed.text}`;
  const isCheap =
    count * rowCost(filters) <= MAX_SORTED_ROWS &&
    numberOf(reader, sql(size, ...fixed.values)) <= MAX_SORTED_BYTES;
  return { scan: { ...byId(source), fixed }, conditions: residualConditionsOf(table, filters), isCheap };
}

/** The few rows at once; or one after the other, if that takes long. */
function planFew(
  { scan, conditions, isCheap }: SmallRange,
  position: readonly Sql[] = [],
): SortPlan | ScanPlan {
  if (isCheap) return { kind: 'sort', source: scan.source, conditions: [scan.fixed, ...conditions] };
  const all = { scan, source: scan.source, conditions: [...conditions, ...position] };
  return { kind: 'scan', ...all, sorted: 'nothing', isLimited: true };
}

function byId(source: string): IndexScan {
  return { source, column: ID, descending: false, idDescending: false, range: {} };
}

/** A condition that an index finds without reading other rows: some values, or one range. */
function seekCondition(table: RecordTable, column: string, filters: readonly Filter[]): Sql {
  const values = filters.find(({ operator }) => operator === 'eq' || operator === 'in');
  return values ? conditionOf(table, values, column) : rangeCondition(column, rangeOf(table, filters));
}
