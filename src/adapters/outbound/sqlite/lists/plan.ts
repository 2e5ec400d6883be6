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
  type IndexedTable,
  isRange,
  narrowed,
  rangeOf,
  residualConditionsOf,
  rowCost,
} from '../sql/filter.js';
import { hasAllValues } from '../sql/old-records.js';
import {
  boundOf,
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
import { type CountedSeek, counted, type Driver, driverOf, isSelective, MAX_FEW, seeksOf } from './seek.js';

/** The most bytes of rows that are read and sorted at once. */
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
  /** What the rows are checked in: the index of the scan; those of a search, or of a list's value, are looked up by id. */
  readonly source: string;
  readonly scan: IndexScan;
  readonly start?: Start | undefined;
  /** What each row must match, besides being part of the scan. */
  readonly conditions: readonly Sql[];
  /** How many times as long it takes to check a row as with one condition, approximately. */
  readonly rowCost: number;
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

export function planList(reader: Reader, records: RecordTable, query: ListQuery): ListPlan {
  const table = indexedTable(reader, records, query.filters);
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
  const seeks = seeksOf(table, query.filters);
  const isById = order.length === 1;
  const others = query.filters.filter((filter) => !isIdRange(filter));
  const serving = seeks.filter(({ served }) => others.every((filter) => served.includes(filter)));
  const whole = isById ? driverOf(reader, serving) : undefined;
  if (whole) return { kind: 'range', scan: orderedScan(table, query, whole).scan };
  const found = counted(reader, seeks);
  const few = fewOf(reader, table, query.filters, found);
  if (few) return planFew(few, positionIn(query));
  return planScan(table, query, isById ? driverOf(reader, found.filter(isSelective)) : undefined);
}

/** @param filters of the query; attributes have no index until the rows of all records are made */
export function indexedTable(reader: Reader, table: RecordTable, filters: readonly Filter[]): IndexedTable {
  const hasAttributes =
    filters.some(({ operator }) => operator === 'attribute') && hasAllValues(reader, table);
  return { ...table, hasAttributes };
}

/** Whether a filter is part of the range of a scan by id. */
function isIdRange(filter: Filter): boolean {
  return filter.field === 'id' && isRange(filter);
}

/** Plans a count, as {@link planList} plans a list. A count needs no order. */
export function planCount(
  reader: Reader,
  records: RecordTable,
  filters: readonly Filter[],
): SortPlan | ScanPlan {
  const table = indexedTable(reader, records, filters);
  const words = searchedWords(filters);
  if (words) return planSearch(reader, table, { filters, order: BY_ID }, words);
  const found = counted(reader, seeksOf(table, filters));
  const few = fewOf(reader, table, filters, found);
  if (few) return planFew(few);
  const plan = { kind: 'scan', sorted: 'nothing', isLimited: true } as const;
  const driver = driverOf(reader, found.filter(isSelective));
  if (driver) {
    const all = scanOf(table, ID, false, filters, driver);
    const isEntries = all.conditions.length === 0 && !driver.union;
    return { ...plan, ...all, source: isEntries ? driver.source : driver.rows.source };
  }
  const ranged = found.find(({ range }) => range);
  if (ranged?.field) {
    const { column, field, range = {}, source, served, rows } = ranged;
    const scan = { ...byId(source), column, range, fixed: field };
    const rest = filters.filter((filter) => !served.includes(filter));
    const all = restOf(table, rest);
    return { ...plan, ...all, scan, source: rest.length === 0 ? source : rows.source };
  }
  const all = scanOf(table, ranged?.column ?? columnOf('createdAt'), false, filters);
  return { ...plan, ...all, source: all.scan.source };
}

/**
 * Plans a list that an index gives in its order, or nearly so.
 * @param driver only for a list by id
 */
function planScan(table: IndexedTable, query: Query, driver?: Driver): ScanPlan {
  const { order, scan, conditions, rowCost } = orderedScan(table, query, driver);
  const [, second] = order;
  const from = boundOf(query);
  const plan = { kind: 'scan', source: driver?.rows.source ?? scan.source, isLimited: true } as const;
  const all = { ...plan, conditions: [...conditions, ...positionIn(query)], rowCost };
  if (order.length === 1 || (order.length === 2 && second?.descending === scan.descending))
    return { ...all, scan, start: from && startAt(from), sorted: 'rows' };
  const range = narrowed(
    scan.range,
    scan.descending,
    from && { value: startAt(from).value, inclusive: true },
  );
  return { ...all, scan: { ...scan, range }, sorted: 'ties' };
}

/**
 * The scan of the first key of an order. The index of a field that records may lack has only those that have a value, as
 * has the list.
 */
function orderedScan(table: IndexedTable, query: Query, driver?: Driver) {
  const order = scanOrder(query);
  const [{ field, descending } = { field: 'id', descending: false }] = order;
  const spec = table.fields[field];
  const having: Filter[] = !spec || spec.required ? [] : [{ field, operator: 'exists', value: true }];
  return { order, ...scanOf(table, columnOf(field), descending, [...query.filters, ...having], driver) };
}

/** The condition on what follows the position of a list. */
function positionIn(query: Query): Sql[] {
  const from = boundOf(query);
  return from ? [keysetCondition(scanOrder(query), from)] : [];
}

function planSearch(
  reader: Reader,
  table: IndexedTable,
  query: Query,
  words: readonly string[],
): ScanPlan & { readonly search: PlannedSearch } {
  const order = scanOrder(query);
  const filters = query.filters.filter(({ operator }) => operator !== 'search');
  const isLimited = !hasOnlyIdFilters(filters) || !hasIndex(reader, table, words);
  const search = { words, ids: idRange(query), descending: !isAscendingRead(query) };
  const source = indexedBy(table, ID);
  const all = restOf(table, filters);
  const plan = { kind: 'scan', source, scan: byId(source), rowCost: all.rowCost, isLimited } as const;
  // The range of ids has these filters and the position.
  const others = filters.filter((filter) => !isIdRange(filter));
  const few =
    others.length > 0 ? fewOf(reader, table, filters, counted(reader, seeksOf(table, filters))) : undefined;
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
    ...all,
    conditions: [...all.conditions, ...positionIn(query)],
    isLimited,
    search: { ...search, descending: false, by: 'matches' },
  };
}

/** The rows in the order of a column, within the range that the filters of this column allow. */
function scanOf(
  table: IndexedTable,
  column: string,
  descending: boolean,
  filters: readonly Filter[],
  driver?: Driver,
): Pick<ScanPlan, 'scan' | 'conditions' | 'rowCost'> {
  const ranged = filters.filter((filter) => isRange(filter) && comparedColumn(table, filter) === column);
  const rest = filters.filter((filter) => !ranged.includes(filter) && !driver?.served.includes(filter));
  const { source, fixed, union } = driver ?? { source: indexedBy(table, column) };
  return {
    scan: {
      source,
      column,
      descending,
      idDescending: descending,
      range: rangeOf(table, ranged),
      ...(fixed && { fixed }),
      ...(union && { union }),
    },
    ...restOf(table, rest),
  };
}

/** What each row is compared with. */
function restOf(table: IndexedTable, filters: readonly Filter[]): Pick<ScanPlan, 'conditions' | 'rowCost'> {
  return { conditions: residualConditionsOf(table, filters), rowCost: rowCost(table, filters) };
}

/** Few rows, which an index finds. */
interface SmallRange extends Pick<ScanPlan, 'conditions' | 'rowCost'> {
  readonly scan: IndexScan & { readonly fixed: Sql };
  /** Whether they can be read and sorted at once. */
  readonly isCheap: boolean;
}

/** The rows of the seek that finds the fewest; undefined if even those are many. */
function fewOf(
  reader: Reader,
  table: IndexedTable,
  filters: readonly Filter[],
  seeks: readonly CountedSeek[],
): SmallRange | undefined {
  const [fewest] = seeks.toSorted((a, b) => a.count - b.count);
  if (!fewest || fewest.count > MAX_FEW) return undefined;
  const { rows, count, served } = fewest;
  const { source, fixed } = rows;
  const rest = filters.filter((filter) => !served.includes(filter));
  // SQLite stores the size of the fields in front of them, so it does not read them here.
  const size = `SELECT coalesce(sum(octet_length(fields)), 0) FROM ${source} WHERE ${fixed.text}`;
  const all = restOf(table, rest);
  const isCheap =
    count * all.rowCost <= MAX_FEW && numberOf(reader, sql(size, ...fixed.values)) <= MAX_SORTED_BYTES;
  return { scan: { ...byId(source), fixed }, ...all, isCheap };
}

/** The few rows at once; or one after the other, if that takes long. */
function planFew(
  { scan, conditions, rowCost, isCheap }: SmallRange,
  position: readonly Sql[] = [],
): SortPlan | ScanPlan {
  if (isCheap) return { kind: 'sort', source: scan.source, conditions: [scan.fixed, ...conditions] };
  const all = { scan, source: scan.source, conditions: [...conditions, ...position], rowCost };
  return { kind: 'scan', ...all, sorted: 'nothing', isLimited: true };
}

function byId(source: string): IndexScan {
  return { source, column: ID, descending: false, idDescending: false, range: {} };
}
