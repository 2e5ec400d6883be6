import type { QueryBudget, QueryTime } from '../../../application/maintenance/query-budget.js';
import {
  type ListQuery,
  MAX_PAGE_BYTES,
  type SortOrder,
  type Value,
} from '../../../application/records/list-query.js';
import { compareInOrder } from '../../../application/records/query-semantics.js';
import type { Reader } from './connection.js';
import { type Place, placeFurther, rangesOf, type Start } from './index-scan.js';
import type { SearchPlan } from './list-plan.js';
import { allOf, columnOf, numberOf, orderBy, type Sql, scanOrder, sql } from './schema.js';

/** How many rows a search looks for another record after a full page. */
const LOOKAHEAD_ROWS = 2_048;

export interface FoundPage {
  /** In the order in which the list is read. */
  readonly ids: readonly Value[];
  readonly hasMore: boolean;
}

/**
 * Finds the records of a page among all rows of a scan.
 * @param reader reads a snapshot, so that no record moves while the search passes it
 * @throws AppError `query_too_expensive`
 */
export async function searchPage(
  reader: Reader,
  plan: SearchPlan,
  query: ListQuery,
  budget: QueryBudget,
): Promise<FoundPage> {
  const { client, isContinuation } = query;
  const found = new FoundRows(query);
  const pace = new Pace(isContinuation ? budget.startUnlimited(client) : budget.start(client));
  // A full page is never refused.
  const paceAhead = new Pace(budget.startUnlimited(client));
  let rowsAhead = LOOKAHEAD_ROWS;
  let isComplete = false;
  const nextSize = async () => {
    if (!isComplete) return pace.next();
    const size = Math.min(await paceAhead.next(), rowsAhead);
    rowsAhead -= size;
    return size;
  };
  for await (const { ranges, end } of slices(reader, plan, nextSize)) {
    found.add(ranges.flatMap((range) => found.select(reader, plan, range)));
    isComplete = found.isFull && isSorted(plan, end, found.lastValue);
    if (isComplete && end && (found.hasMore || rowsAhead === 0)) return { ids: found.ids, hasMore: true };
  }
  return found;
}

/** @throws AppError `query_too_expensive` */
export async function countBySearch(reader: Reader, plan: SearchPlan, time: QueryTime): Promise<number> {
  const pace = new Pace(time);
  let count = 0;
  for await (const { ranges } of slices(reader, plan, () => pace.next()))
    for (const range of ranges) count += countRows(reader, plan.scan.source, [range, ...plan.conditions]);
  return count;
}

export function countRows(reader: Reader, source: string, conditions: readonly Sql[]): number {
  const { text, values } = allOf(conditions);
  return numberOf(reader, sql(`SELECT count(*) FROM ${source} WHERE ${text}`, ...values));
}

/** Whether all rows behind a place come after a value of the first key of the list. */
function isSorted({ sorted }: SearchPlan, end: Place | undefined, value: Value | undefined): boolean {
  return sorted === 'rows' || (sorted === 'ties' && end?.value !== value);
}

interface Slice {
  readonly ranges: readonly Sql[];
  /** The last row; undefined in the last slice. */
  readonly end: Place | undefined;
}

/** @param nextSize waits until the next slice may be read, and returns its number of rows */
async function* slices(
  reader: Reader,
  { scan, start }: SearchPlan,
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

/** Rows of the first slice, and the bounds of the next ones. */
const ROWS = { first: 32, min: 4, max: 1_024 };
/** After a faster slice the next has twice the rows, after a slower slice half the rows. */
const FAST_MS = 1;
const SLOW_MS = 3;

/** Makes slices of one to three milliseconds. Between two slices other requests have their turn. */
class Pace {
  private rows = ROWS.first;

  constructor(private readonly time: Pick<QueryTime, 'checkpoint'>) {}

  /** @throws AppError `query_too_expensive` */
  async next(): Promise<number> {
    const ms = await this.time.checkpoint();
    if (ms < FAST_MS) this.rows = Math.min(this.rows * 2, ROWS.max);
    if (ms > SLOW_MS) this.rows = Math.max(this.rows >> 1, ROWS.min);
    return this.rows;
  }
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

  select(reader: Reader, { scan, conditions }: SearchPlan, range: Sql): FoundRow[] {
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
