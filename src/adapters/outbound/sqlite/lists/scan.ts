import type { QueryBudget, QueryTime } from '../../../../application/maintenance/query-budget.js';
import {
  type Filter,
  type ListQuery,
  MAX_PAGE_BYTES,
  type SortOrder,
  type Value,
} from '../../../../application/records/list-query.js';
import { compareInOrder } from '../../../../application/records/query-semantics.js';
import type { Reader } from '../connection/connection.js';
import { rowCost } from '../records/filter.js';
import { allOf, columnOf, numberOf, orderBy, type Sql, scanOrder, sql } from '../records/schema.js';
import { AdaptiveBatchSize, type Checkpoints } from './adaptive-batch-size.js';
import { type Place, placeFurther, rangesOf, type Start } from './index-scan.js';
import type { ScanPlan, Slice, Slices } from './plan.js';

/** How many rows, and how many slices, a search looks for another record after a full page. */
const LOOKAHEAD_ROWS = 2_048;
const LOOKAHEAD_SLICES = 64;

export interface FoundPage {
  /** In the order in which the list is read. */
  readonly ids: readonly Value[];
  readonly hasMore: boolean;
}

/** The time of the search for a page. A served search may take any time, because each of its steps is short. */
export function timeOf(
  { client, isContinuation }: ListQuery,
  budget: QueryBudget,
  isServed = false,
): QueryTime {
  return isContinuation || isServed ? budget.startUnlimited(client) : budget.start(client);
}

/**
 * Finds the records of a page among all rows of a scan.
 * @param reader reads a snapshot, so that no record moves while the search passes it
 * @param time from {@link timeOf}
 * @throws AppError `query_too_expensive`
 */
export async function scanPage(
  reader: Reader,
  plan: ScanPlan,
  query: ListQuery,
  budget: QueryBudget,
  time = timeOf(query, budget),
): Promise<FoundPage> {
  const found = new FoundRows(query);
  // A full page is never refused.
  const timeAhead = budget.startUnlimited(query.client);
  const current: Checkpoints = { checkpoint: () => (isComplete ? timeAhead : time).checkpoint() };
  const cost = rowCost(query.filters);
  const pace = new AdaptiveBatchSize(time, cost);
  const paceAhead = new AdaptiveBatchSize(timeAhead, cost);
  let rowsAhead = LOOKAHEAD_ROWS;
  let slicesAhead = LOOKAHEAD_SLICES;
  let isComplete = false;
  const nextSize = async () => {
    if (!isComplete) return pace.next();
    const size = Math.min(await paceAhead.next(), rowsAhead);
    rowsAhead -= size;
    return size;
  };
  for await (const { ranges, end } of slicesOf(reader, plan, nextSize, current)) {
    found.add(ranges.flatMap((range) => found.select(reader, plan, range)));
    if (isComplete) slicesAhead--;
    isComplete = found.isFull && isSorted(plan, end, found.lastValue);
    const isFar = rowsAhead === 0 || slicesAhead === 0;
    if (isComplete && end && (found.hasMore || isFar)) return { ids: found.ids, hasMore: true };
  }
  return found;
}

/** @throws AppError `query_too_expensive` */
export async function countByScan(
  reader: Reader,
  plan: ScanPlan,
  filters: readonly Filter[],
  time: QueryTime,
): Promise<number> {
  const pace = new AdaptiveBatchSize(time, rowCost(filters));
  let count = 0;
  for await (const { ranges } of slicesOf(reader, plan, () => pace.next(), time))
    for (const range of ranges) count += countRows(reader, plan.scan.source, [range, ...plan.conditions]);
  return count;
}

export function countRows(reader: Reader, source: string, conditions: readonly Sql[]): number {
  const { text, values } = allOf(conditions);
  return numberOf(reader, sql(`SELECT count(*) FROM ${source} WHERE ${text}`, ...values));
}

/** Whether all rows behind a place come after a value of the first key of the list. */
function isSorted({ sorted }: ScanPlan, end: Place | undefined, value: Value | undefined): boolean {
  return sorted === 'rows' || (sorted === 'ties' && end?.value !== value);
}

function slicesOf(reader: Reader, plan: ScanPlan, ...[nextSize, time]: Parameters<Slices>) {
  return plan.slices ? plan.slices(nextSize, time) : scanSlices(reader, plan, nextSize);
}

/** The slices of a plan that has no others. */
export async function* scanSlices(
  reader: Reader,
  { scan, start }: Pick<ScanPlan, 'scan' | 'start'>,
  nextSize: () => Promise<number>,
): AsyncGenerator<Slice, void, void> {
  let after: Start | undefined = start;
  let end: Place | undefined;
  do {
    end = placeFurther(reader, scan, after, await nextSize());
    yield { ranges: rangesOf(scan, after, end), end };
    after = end && { ...end, inclusive: false };
  } while (end);
}

interface FoundRow {
  readonly bytes: number;
  /** One value for each key of the order; the last is the id. */
  readonly values: readonly Value[];
}

/** The first rows that match, in the order of the list: those of the page and one more. */
class FoundRows implements FoundPage {
  private readonly order: SortOrder;
  private rows: readonly FoundRow[] = [];
  /** The number of rows that belong to the page. */
  private length = 0;
  isFull = false;

  constructor(private readonly query: ListQuery) {
    this.order = scanOrder(query);
  }

  get hasMore(): boolean {
    return this.rows.length > this.length;
  }

  get ids(): readonly Value[] {
    return this.rows.slice(0, this.length).flatMap(({ values }) => values.slice(-1));
  }

  /** The value of the page's last row in the first key of the order. */
  get lastValue(): Value | undefined {
    return this.rows[this.length - 1]?.values[0];
  }

  select(reader: Reader, { scan, conditions }: ScanPlan, range: Sql): FoundRow[] {
    const { order } = this;
    const columns = order.map(({ field }) => columnOf(field)).join(', ');
    const where = allOf([range, ...conditions]);
    const text = `SELECT octet_length(fields), ${columns} FROM ${scan.source}
      WHERE ${where.text} ORDER BY ${orderBy(order)} LIMIT ?`;
    const rows = reader.read(
      text,
      (statement) => statement.all([...where.values, this.query.limit + 1]) as [number, ...Value[]][],
    );
    return rows.map(([bytes, ...values]) => ({ bytes, values }));
  }

  add(more: readonly FoundRow[]): void {
    if (more.length === 0) return;
    const { limit, bytes: maxBytes = MAX_PAGE_BYTES } = this.query;
    const all = [...this.rows, ...more].sort((a, b) => compareInOrder(this.order, a.values, b.values));
    let bytes = 0;
    let length = 0;
    for (; length < limit && bytes < maxBytes && length < all.length; length++)
      bytes += all[length]?.bytes ?? 0;
    this.isFull = length === limit || bytes >= maxBytes;
    this.length = length;
    this.rows = all.slice(0, length + 1);
  }
}
