import type { QueryBudget, QueryTime } from '../../../../application/maintenance/query-budget.js';
import {
  type ListQuery,
  MAX_PAGE_BYTES,
  type RecordTable,
  type Value,
} from '../../../../application/ports/list-query.js';
import { compareInOrder } from '../../../../application/records/query-semantics.js';
import type { Id } from '../../../../domain/record.js';
import type { Turn } from '../../../../shared/turn.js';
import { AdaptiveBatchSize, type Checkpoints } from '../connection/adaptive-batch-size.js';
import type { Reader } from '../connection/connection.js';
import { IdSet } from '../full-text/id-set.js';
import { WordSearch } from '../full-text/search.js';
import {
  allOf,
  columnOf,
  ID,
  idsOf,
  isAmong,
  numberOf,
  orderBy,
  rowsThat,
  type ScanKey,
  type Sql,
  scanOrder,
  sql,
} from '../sql/schema.js';
import { type Place, placeFurther, rangesOf, type Start } from './index-scan.js';
import { LIST_TUNING, type ScanPlan, type Sorted } from './plan.js';

/** How many rows a scan looks for another record after a full page. A block without matches counts as a few rows. */
const LOOKAHEAD_ROWS = 2_048;
const EMPTY_ROWS = 32;

export interface FoundPage {
  /** In the order in which the list is read. */
  readonly ids: readonly Id[];
  readonly hasMore: boolean;
}

/** The time of a list, or of a count. */
export function timeOf({ isLimited }: ScanPlan, turn: Turn | undefined, budget: QueryBudget): QueryTime {
  return isLimited ? budget.start(turn) : budget.startUnlimited(turn);
}

/**
 * Finds the records of a page among all rows of a scan.
 * @param reader reads a snapshot, so that no record moves while the scan passes it
 * @param matching the ids of all records that may be in the list, if they are known
 * @throws AppError `query_too_expensive`
 */
export async function scanPage(
  reader: Reader,
  table: RecordTable,
  plan: ScanPlan,
  query: ListQuery,
  budget: QueryBudget,
  limited = timeOf(plan, query.turn, budget),
  matching?: IdSet,
  { maxSorted } = LIST_TUNING,
): Promise<FoundPage> {
  const found = new FoundRows(query);
  const { instead } = plan;
  let passed = 0;
  // A full page is never refused.
  const unlimited = budget.startUnlimited(query.turn);
  let isComplete = false;
  let ahead = LOOKAHEAD_ROWS;
  const time: Checkpoints = { checkpoint: () => (isComplete ? unlimited : limited).checkpoint() };
  const size = new AdaptiveBatchSize(time, plan.rowCost);
  const nextSize = async () => Math.min(await size.next(), isComplete ? ahead : LOOKAHEAD_ROWS);
  for await (const slice of slicesOf(reader, table, plan, nextSize, time, maxSorted, matching)) {
    found.add(slice.ranges.flatMap((range) => found.select(reader, plan, range)));
    passed += slice.rows;
    if (isComplete) ahead -= slice.rows;
    isComplete = found.isFull && isSorted(slice, found.lastValue);
    if (isComplete && slice.end && (found.hasMore || ahead <= 0)) return { ids: found.ids, hasMore: true };
    if (instead && slice.end && !isComplete && passed > instead.afterRows)
      return scanPage(reader, table, instead.plan, query, budget, limited);
  }
  return found;
}

/** @throws AppError `query_too_expensive` */
export async function countByScan(
  reader: Reader,
  table: RecordTable,
  plan: ScanPlan,
  time: QueryTime,
): Promise<number> {
  const { search, conditions, source } = plan;
  if (search?.by === 'blocks' && conditions.length === 0) {
    return (await new WordSearch(reader, table, search).collect(time)).length;
  }
  let count = 0;
  const size = new AdaptiveBatchSize(time, plan.rowCost);
  for await (const { ranges } of slicesOf(reader, table, plan, () => size.next(), time))
    for (const range of ranges) count += countRows(reader, source, range, conditions);
  return count;
}

/**
 * The ids of the records that {@link countByScan} counts, in pieces.
 * @throws AppError `query_too_expensive`
 */
export async function* idsByScan(
  reader: Reader,
  table: RecordTable,
  plan: ScanPlan,
  time: QueryTime,
): AsyncGenerator<readonly Id[], void, void> {
  const size = new AdaptiveBatchSize(time, plan.rowCost);
  for await (const { ranges } of slicesOf(reader, table, plan, () => size.next(), time))
    for (const range of ranges) yield idsWhere(reader, plan.source, range, plan.conditions);
}

export function idsWhere(reader: Reader, source: string, found: Sql, conditions: readonly Sql[] = []): Id[] {
  const { text, values } = rowsThat(found, conditions);
  return idsOf(reader, sql(`SELECT id FROM ${source} WHERE ${text}`, ...values));
}

export function countRows(reader: Reader, source: string, found: Sql, conditions: readonly Sql[]): number {
  const { text, values } = rowsThat(found, conditions);
  return numberOf(reader, sql(`SELECT count(*) FROM ${source} WHERE ${text}`, ...values));
}

/** Whether all rows behind a slice come after a value of the first key of the list. */
function isSorted({ sorted, end }: Slice, value: Value | null | undefined): boolean {
  return sorted === 'rows' || (sorted === 'ties' && end?.value !== value);
}

/** A part of the rows of a scan. */
interface Slice extends Pick<ScanPlan, 'sorted'> {
  readonly ranges: readonly Sql[];
  /** The last row; undefined in the last slice. */
  readonly end: Place | undefined;
  /** The number of rows, approximately. */
  readonly rows: number;
}

/** Waits until the next slice may be read, and returns its number of rows. */
type NextSize = () => Promise<number>;

/** @param time for the work of a search */
async function* slicesOf(
  reader: Reader,
  table: RecordTable,
  plan: ScanPlan,
  nextSize: NextSize,
  time: Checkpoints,
  maxSorted = LIST_TUNING.maxSorted,
  known?: IdSet,
): AsyncGenerator<Slice, void, void> {
  const { search, source, scan, probes, conditions, sorted } = plan;
  if (known) return yield* matchingSlices(reader, plan, nextSize, known, maxSorted);
  if (!search) {
    for await (const { ranges, ...slice } of indexSlices(reader, plan, nextSize))
      yield {
        ...slice,
        ranges:
          source === scan.source
            ? ranges
            : ranges.map((range) => isAmong(scan.source, allOf([range, ...probes]))),
      };
    return;
  }
  const words = new WordSearch(reader, table, search);
  if (search.by === 'blocks') return yield* idSlices([await words.collect(time)], nextSize, sorted);
  const idsIn = (found: Sql, ...where: Sql[]) => idsWhere(reader, scan.source, found, where);
  if (search.by === 'rows') {
    const found = await words.verified(idsIn(allOf(rangesOf(scan)), ...conditions), time);
    return yield* idSlices([found], nextSize, sorted);
  }
  yield* matchingSlices(reader, plan, nextSize, new IdSet(await words.collect(time)), maxSorted);
}

/** The rows with some ids: all at once if they are few, else those that are among the rows of the scan. */
async function* matchingSlices(
  reader: Reader,
  plan: ScanPlan,
  nextSize: NextSize,
  matching: IdSet,
  maxSorted: number,
): AsyncGenerator<Slice, void, void> {
  if (matching.size <= maxSorted) return yield* idSlices([[...matching]], nextSize, 'nothing');
  for await (const slice of indexSlices(reader, plan, nextSize)) {
    const ids = slice.ranges.flatMap((range) => idsWhere(reader, plan.scan.source, range));
    yield { ...slice, ranges: oneOf(ids.filter((id) => matching.has(id))) };
  }
}

async function* indexSlices(
  reader: Reader,
  { scan, start, sorted }: ScanPlan,
  nextSize: NextSize,
): AsyncGenerator<Slice, void, void> {
  let after: Start | undefined = start;
  let end: Place | undefined;
  do {
    const rows = await nextSize();
    end = placeFurther(reader, scan, after, rows);
    yield { ranges: rangesOf(scan, after, end), end, rows, sorted };
    after = end && { ...end, inclusive: false };
  } while (end);
}

/** @param found returns the ids in the order in which they are read */
async function* idSlices(
  found: AsyncIterable<readonly Id[]> | Iterable<readonly Id[]>,
  nextSize: NextSize,
  sorted: Sorted,
): AsyncGenerator<Slice, void, void> {
  for await (const ids of found)
    for (let at = 0, rows = 0; at === 0 || at < ids.length; at += rows) {
      rows = ids.length === 0 ? EMPTY_ROWS : await nextSize();
      yield { ranges: oneOf(ids.slice(at, at + rows)), end: { value: ids[at] ?? 0 }, rows, sorted };
    }
}

/** The rows with these ids, as ranges. */
export function oneOf(ids: readonly Id[]): Sql[] {
  return ids.length === 0 ? [] : [sql(`${ID} IN (SELECT value FROM json_each(?))`, JSON.stringify(ids))];
}

interface FoundRow {
  readonly bytes: number;
  /** One value for each key of the order; the last is the id. */
  readonly values: readonly (Value | null)[];
}

/** The first rows that match, in the order of the list: those of the page and one more. */
class FoundRows implements FoundPage {
  private readonly order: readonly ScanKey[];
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

  get ids(): readonly Id[] {
    return this.rows.slice(0, this.length).map(({ values }) => Number(values.at(-1)));
  }

  /** The value of the page's last row in the first key of the order. */
  get lastValue(): Value | null | undefined {
    return this.rows[this.length - 1]?.values[0];
  }

  select(reader: Reader, plan: ScanPlan, range: Sql): FoundRow[] {
    const { order } = this;
    const columns = order.map(({ field }) => columnOf(field)).join(', ');
    const where = rowsThat(range, plan.conditions);
    const text = `SELECT octet_length(fields), ${columns} FROM ${plan.source}
      WHERE ${where.text} ORDER BY ${orderBy(order)} LIMIT ?`;
    const rows = reader.read(
      text,
      (statement) =>
        statement.all([...where.values, this.query.limit + 1]) as [number, ...(Value | null)[]][],
    );
    return rows.map(([bytes, ...values]) => ({ bytes, values }));
  }

  private compare(a: FoundRow['values'], b: FoundRow['values']): number {
    const difference = compareInOrder(this.query.order, a, b);
    return this.query.from?.side === 'before' ? -difference : difference;
  }

  add(more: readonly FoundRow[]): void {
    if (more.length === 0) return;
    const { limit, bytes: maxBytes = MAX_PAGE_BYTES } = this.query;
    const all = [...this.rows, ...more].sort((a, b) => this.compare(a.values, b.values));
    let bytes = 0;
    let length = 0;
    for (; length < limit && bytes < maxBytes && length < all.length; length++)
      bytes += all[length]?.bytes ?? 0;
    this.isFull = length === limit || bytes >= maxBytes;
    this.length = length;
    this.rows = all.slice(0, length + 1);
  }
}
