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
  probesOf,
  rangeOf,
  residualConditionsOf,
  rowCost,
} from '../sql/filter.js';
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
import { orderField, servingFields } from './column-fields.js';
import type { ColumnField } from './columns.js';
import { type IndexScan, SEEK, type Start, startAt } from './index-scan.js';
import { type Driver, driverOf, isSelective, type SizedSeek, seeksOf, sized } from './seek.js';

/** The most bytes of rows that are read and sorted at once. */
const MAX_SORTED_BYTES = 1_048_576;

export interface ListTuning {
  /** The most rows that are few: they are read and sorted at once, fewer if each one costs more. */
  readonly maxFew: number;
  /** More matching records are not sorted: the scan of an index that has their order passes them. */
  readonly maxSorted: number;
  /** If more rows than these are expected to be read, columns are looked through instead: it takes about as long. */
  readonly columnRows: number;
}

export const LIST_TUNING: ListTuning = { maxFew: 1_000, maxSorted: 1_000, columnRows: 80 };

/** How a list is read. A plan is plain data. */
export type ListPlan = RangePlan | BlocksPlan | SortPlan | ScanPlan | ColumnsPlan;

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
  /** What the index finds, and what its rows are compared with. */
  readonly found: Sql;
  readonly checks: readonly Sql[];
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
  /** What each row of the scan must match before it is looked up by id. */
  readonly probes: readonly Sql[];
  /** What each row must match besides. */
  readonly conditions: readonly Sql[];
  /** How many times as long it takes to check a row as with one condition, approximately. */
  readonly rowCost: number;
  readonly sorted: Sorted;
  /** Whether the time of queries limits it. Without a limit, each of its steps is short. */
  readonly isLimited: boolean;
  readonly search?: PlannedSearch;
  /** How it is read if the columns of these fields are in memory. Absent if they do not serve it, or if it is cheap. */
  readonly columns?: ColumnsPlan;
  /** What is done if the page is not full after so many rows. */
  readonly instead?: { readonly plan: ScanPlan; readonly afterRows: number };
}

/** Columns in memory find the ids of all records that match. */
export interface ColumnsPlan {
  readonly kind: 'columns';
  readonly fields: readonly ColumnField[];
  /** The field whose column gives the order, if there is one. */
  readonly ordered?: ColumnField | undefined;
  /** The index of an order, whose rows with these ids are in the list. Absent if no order is needed but of id. */
  readonly order?: ScanPlan;
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

export function planList(
  reader: Reader,
  records: RecordTable,
  query: ListQuery,
  tuning = LIST_TUNING,
  atHand?: AtHand,
): ListPlan {
  const table = indexedTable(records, query.filters);
  const words = searchedWords(query.filters);
  if (words) {
    const plan = planSearch(reader, table, query, words, tuning);
    const isDirect = plan.search.by === 'blocks' && plan.conditions.length === 0 && !plan.isLimited;
    return isDirect ? { kind: 'blocks', search: plan.search } : plan;
  }
  const inOrder = query.order.length > 1 ? planAtHand(table, query, tuning, atHand) : undefined;
  if (inOrder) return inOrder;
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
  const byColumns = isById ? planAtHand(table, query, tuning, atHand) : undefined;
  if (byColumns) return byColumns;
  const found = sized(reader, seeks, tuning.maxFew);
  const filters = selectiveFirst(query.filters, found);
  const few = fewOf(reader, table, filters, found, tuning);
  if (few) return planFew(few, positionIn(query));
  const driver = driverOf(reader, found.filter(isSelective));
  const scanning = planScan(table, { ...query, filters }, isById ? driver : undefined);
  if (!driver) return scanning;
  const { driven, passed, sortingRows } = expectedRows(reader, table, query.limit, found);
  const columnsFor = (rows: number, scanned?: ScanPlan) =>
    rows > tuning.columnRows
      ? planColumns(table, filters, scanned && { ordered: orderField(table, query.order), order: scanned })
      : {};
  if (isById) return { ...scanning, ...columnsFor(driven) };
  const all = planFrom(table, driver, filters);
  const sorting = { ...all, conditions: [...all.conditions, ...positionIn(query)] };
  const isOwn = (filter: Filter) => comparedColumn(table, filter) === scan.column && isRange(filter);
  const ordered = planScan(table, { ...query, filters: filters.filter(isOwn) });
  const matching = { ...ordered, source: indexedBy(table, ID), rowCost: PASSED_COST };
  const columns = columnsFor(Math.min(passed, sortingRows), matching);
  if (sortingRows < passed) return { ...sorting, ...columns };
  return { ...scanning, ...columns, instead: { plan: sorting, afterRows: sortingRows } };
}

/** What it costs to compare the id of a row with those that match, beside reading the row. */
const PASSED_COST = 1 / 8;

function planColumns(
  table: IndexedTable,
  filters: readonly Filter[],
  order: Pick<ColumnsPlan, 'ordered' | 'order'> = {},
): Pick<ScanPlan, 'columns'> {
  const fields = servingFields(table, filters);
  return fields ? { columns: { kind: 'columns', fields, ...order } } : {};
}

/** What columns in memory can do at once. */
export interface AtHand {
  /** The share of the records that the filters select; undefined if columns do not remember it. */
  share(filters: readonly Filter[]): number | undefined;
  has(ordered: ColumnField): boolean;
}

/**
 * A plan to look through columns, without the estimates of other plans, which would take longer.
 * @returns undefined if columns do not remember what the filters select, or if the index of the order soon fills the page
 */
function planAtHand(
  table: RecordTable,
  { filters, order, limit }: Pick<ListQuery, 'filters' | 'order' | 'limit'>,
  { columnRows }: ListTuning,
  atHand: AtHand | undefined,
): ColumnsPlan | undefined {
  const share = atHand?.share(filters);
  const fields = share === undefined ? undefined : servingFields({ ...table, hasAttributes: true }, filters);
  if (share === undefined || !fields) return undefined;
  if (order.length === 1) return { kind: 'columns', fields };
  const ordered = orderField(table, order);
  if (!ordered || !atHand?.has(ordered)) return undefined;
  // The index of a field has the order of the records with one of its values, or with some.
  const isInIndex =
    table.fields[ordered.field]?.faceted && filters.some(({ field }) => field === ordered.field);
  const isFull = limit + 1 <= columnRows * share;
  return isInIndex || isFull ? undefined : { kind: 'columns', fields, ordered };
}

export function indexedTable(table: RecordTable, filters: readonly Filter[]): IndexedTable {
  return { ...table, hasAttributes: filters.some(({ operator }) => operator === 'attribute') };
}

/** Whether a filter is part of the range of a scan by id. */
function isIdRange(filter: Filter): boolean {
  return filter.field === 'id' && isRange(filter);
}

/** The filters in the order in which rows are compared with them. */
function selectiveFirst(filters: readonly Filter[], found: readonly SizedSeek[]): readonly Filter[] {
  const sizes = new Map(found.flatMap(({ served, count }) => served.map((filter) => [filter, count])));
  const sizeOf = (filter: Filter) => sizes.get(filter) ?? Number.MAX_VALUE;
  return filters.toSorted((a, b) => sizeOf(a) - sizeOf(b));
}

/** What it takes to read a row of an index, to look up a value of it, and to read its record; in microseconds. */
const COST = { row: 0.15, probe: 0.7, record: 3 };

/**
 * How many rows of the smallest filter, and of the index of an order, are passed until a page is full, and how many rows
 * could be passed while all records that match are found and sorted. Each filter is taken for independent of the others,
 * and only those count whose size is known.
 */
function expectedRows(
  reader: Reader,
  { name }: RecordTable,
  limit: number,
  found: readonly SizedSeek[],
): Record<'driven' | 'passed' | 'sortingRows', number> {
  const all = numberOf(reader, sql(`SELECT coalesce(max(id), 0) FROM ${name}`));
  const [smallest = 0, ...others] = found
    .filter(isSelective)
    .map(({ count }) => count)
    .toSorted((a, b) => a - b);
  const matching = others.reduce((left, count) => left * Math.min(1, count / all), smallest);
  const passed = Math.min(all, ((limit + 1) * all) / Math.max(1, matching));
  return {
    driven: Math.min(smallest, (passed * smallest) / Math.max(1, all)),
    passed,
    sortingRows: smallest + (matching * COST.record) / (COST.row + COST.probe),
  };
}

/** Plans a count, as {@link planList} plans a list. A count needs no order. */
export function planCount(
  reader: Reader,
  records: RecordTable,
  all: readonly Filter[],
  tuning = LIST_TUNING,
  atHand?: AtHand,
): SortPlan | ScanPlan | ColumnsPlan {
  const table = indexedTable(records, all);
  const words = searchedWords(all);
  if (words) return planSearch(reader, table, { filters: all, order: BY_ID }, words, tuning);
  const byColumns = planAtHand(table, { filters: all, order: BY_ID, limit: 0 }, tuning, atHand);
  if (byColumns) return byColumns;
  const found = sized(reader, seeksOf(table, all), tuning.maxFew);
  const filters = selectiveFirst(all, found);
  const few = fewOf(reader, table, filters, found, tuning);
  if (few) return planFew(few);
  const plan = planCountScan(reader, table, filters, found);
  return plan.conditions.length === 0 && plan.probes.length === 0
    ? plan
    : { ...plan, ...planColumns(table, filters) };
}

function planCountScan(
  reader: Reader,
  table: IndexedTable,
  filters: readonly Filter[],
  found: readonly SizedSeek[],
): ScanPlan {
  const driver = driverOf(reader, found.filter(isSelective));
  if (driver) return countedFrom(planFrom(table, driver, filters));
  const plan = { kind: 'scan', sorted: 'nothing', isLimited: true } as const;
  // Several rows of a range of a list may be of one record.
  const ranged = found.find(
    ({ range, served: [filter] }) => range && !table.fields[filter?.field ?? '']?.isList,
  );
  if (ranged?.field) {
    const { column, field, range = {}, source, served, rows } = ranged;
    const rest = filters.filter((filter) => !served.includes(filter));
    const scan = { ...byId(source), column, range, fixed: field };
    return countedFrom({ ...plan, ...checksOf(table, rest, true), scan, source: rows.source });
  }
  const scan = scanOf(table, ranged?.column ?? columnOf('createdAt'), false, filters);
  return { ...plan, ...scan, source: scan.scan.source };
}

/** Counts the rows of the scan if each is another record, and if it takes no look at the record. */
function countedFrom(plan: ScanPlan): ScanPlan {
  const { scan, probes, conditions } = plan;
  if (conditions.length > 0 || scan.union) return plan;
  return { ...plan, source: scan.source, probes: [], conditions: probes };
}

/** Plans to read all records of a driver, in no order. */
function planFrom(table: IndexedTable, driver: Driver, filters: readonly Filter[]): ScanPlan {
  const all = scanOf(table, ID, false, filters, driver);
  return { kind: 'scan', sorted: 'nothing', isLimited: true, ...all, source: driver.rows.source };
}

/**
 * Plans a list that an index gives in its order, or nearly so.
 * @param driver only for a list by id
 */
function planScan(table: IndexedTable, query: Query, driver?: Driver): ScanPlan {
  const { order, scan, ...checks } = orderedScan(table, query, driver);
  const [, second] = order;
  const from = boundOf(query);
  const plan = { kind: 'scan', source: driver?.rows.source ?? scan.source, isLimited: true } as const;
  const all = { ...plan, ...checks, conditions: [...checks.conditions, ...positionIn(query)] };
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
  tuning: ListTuning,
): ScanPlan & { readonly search: PlannedSearch } {
  const order = scanOrder(query);
  const filters = query.filters.filter(({ operator }) => operator !== 'search');
  const isLimited = !hasOnlyIdFilters(filters) || !hasIndex(reader, table, words);
  const search = { words, ids: idRange(query), descending: !isAscendingRead(query) };
  const source = indexedBy(table, ID);
  // The range of ids has these filters and the position.
  const others = filters.filter((filter) => !isIdRange(filter));
  const few =
    others.length > 0
      ? fewOf(reader, table, filters, sized(reader, seeksOf(table, filters), tuning.maxFew), tuning)
      : undefined;
  const plan = { kind: 'scan', source, scan: byId(source), isLimited } as const;
  if (few?.isCheap) {
    const { scan, checks } = few;
    const conditions = [...checks.conditions, ...positionIn(query)];
    return { ...plan, ...checks, scan, conditions, sorted: 'nothing', search: { ...search, by: 'rows' } };
  }
  if (order.length === 1)
    return { ...plan, ...checksOf(table, others), sorted: 'rows', search: { ...search, by: 'blocks' } };
  const checks = checksOf(table, filters);
  return {
    ...planScan(table, { ...query, filters }),
    ...checks,
    source,
    conditions: [...checks.conditions, ...positionIn(query)],
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
): Pick<ScanPlan, 'scan'> & Checks {
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
    ...checksOf(table, rest, driver !== undefined && source !== driver.rows.source),
  };
}

type Checks = Pick<ScanPlan, 'probes' | 'conditions' | 'rowCost'>;

/**
 * What each row is compared with.
 * @param filters the most selective first
 * @param isLookedUp whether the rows of the scan are looked up by id
 */
function checksOf(table: IndexedTable, filters: readonly Filter[], isLookedUp = false): Checks {
  const probes = isLookedUp ? probesOf(table, filters, SEEK) : new Map<Filter, Sql>();
  const rest = filters.filter((filter) => !probes.has(filter));
  const conditions = residualConditionsOf(table, rest);
  return { probes: [...probes.values()], conditions, rowCost: rowCost(table, filters) };
}

/** Few rows, which an index finds. */
interface FewRows {
  readonly scan: IndexScan & { readonly fixed: Sql };
  readonly checks: Checks;
  /** Whether they can be read and sorted at once. */
  readonly isCheap: boolean;
}

/** The rows of the seek that finds the fewest; undefined if even those are many. */
function fewOf(
  reader: Reader,
  table: IndexedTable,
  filters: readonly Filter[],
  seeks: readonly SizedSeek[],
  { maxFew }: ListTuning,
): FewRows | undefined {
  const [fewest] = seeks.toSorted((a, b) => a.count - b.count);
  if (!fewest || fewest.count > maxFew) return undefined;
  const { rows, count, served } = fewest;
  const { source, fixed } = rows;
  const rest = filters.filter((filter) => !served.includes(filter));
  const checks = checksOf(table, rest);
  // SQLite stores the size of the fields in front of them, so it does not read them here.
  const size = `SELECT coalesce(sum(octet_length(fields)), 0) FROM ${source} WHERE ${fixed.text}`;
  const isCheap =
    count * checks.rowCost <= maxFew && numberOf(reader, sql(size, ...fixed.values)) <= MAX_SORTED_BYTES;
  return { scan: { ...byId(source), fixed }, checks, isCheap };
}

/** The few rows at once; or one after the other, if that takes long. */
function planFew({ scan, checks, isCheap }: FewRows, position: readonly Sql[] = []): SortPlan | ScanPlan {
  const { source, fixed } = scan;
  if (isCheap) return { kind: 'sort', source, found: fixed, checks: checks.conditions };
  const all = { ...checks, scan, source, conditions: [...checks.conditions, ...position] };
  return { kind: 'scan', ...all, sorted: 'nothing', isLimited: true };
}

function byId(source: string): IndexScan {
  return { source, column: ID, descending: false, idDescending: false, range: {} };
}
