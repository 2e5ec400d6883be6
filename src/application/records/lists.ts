import { AppError, queryTooExpensive } from '../../domain/errors.js';
import { type FieldSpecs, SYSTEM_FIELDS } from '../../domain/fields.js';
import type { Versioned } from '../../domain/record.js';
import { BACKGROUND, type Task } from '../../shared/task-scheduler.js';
import type { Clock } from '../ports/clock.js';
import { type Filter, type ListPage, type ListQuery, MAX_PAGE_BYTES, type Position } from '../ports/list-query.js';
import type { Repository } from '../ports/repository.js';
import { positionOf } from './query-semantics.js';
import { StoredRecord } from './record-json.js';

type Lists<Fields> = Pick<Repository<Fields>, 'list'>;

/**
 * Lists by any order. If records may lack the first field of an order, the list has two parts, in this order: the records
 * that have a value, and those that lack it. A record whose sort fields stay as they are stays in its part, so each part
 * is read at its own time.
 */
export class OrderedLists<Fields> implements Lists<Fields> {
  constructor(
    private readonly records: Lists<Fields>,
    private readonly fields: FieldSpecs,
  ) {}

  /** @throws AppError as `Repository.list` */
  async list(query: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const [first, ...further] = query.order;
    const presence = first && this.presence(first.field, query.filters);
    const { filters, from } = query;
    // A client can make a cursor with a place that no record has.
    if (!first || (presence === 'always' && from?.values[0] !== null)) return this.records.list(query);
    const part = (value: boolean): Filter[] => [
      ...filters.flatMap((filter) => inPart(filter, first.field, value)),
      { field: first.field, operator: 'exists', value },
    ];
    const having = { ...query, filters: part(true) };
    const lacking = { ...query, filters: part(false), order: further, from: from && withoutFirst(from) };
    if (presence === 'never') return this.list(lacking);
    const isInLacking = from !== undefined && (from.values[0] ?? null) === null;
    if (from?.side === 'before')
      return isInLacking ? this.both(lacking, { ...having, from: END }) : this.records.list(having);
    return isInLacking ? this.list(lacking) : this.both(having, { ...lacking, from: undefined });
  }

  /** Whether the records that match the filters have a value. A record without one matches no comparison. */
  private presence(field: string, filters: readonly Filter[]): 'always' | 'never' | 'sometimes' {
    if ((this.fields[field] ?? SYSTEM_FIELDS[field])?.required) return 'always';
    const own = filters.filter((filter) => filter.field === field && filter.operator !== 'inOrNone');
    if (own.length === 0) return 'sometimes';
    return own.some((filter) => filter.operator === 'exists' && !filter.value) ? 'never' : 'always';
  }

  /** Reads a page from the part of its position, and what is left of it from the other part. */
  private async both(part: ListQuery, other: ListQuery): Promise<ListPage<Versioned<Fields>>> {
    const { records, hasMore } = await this.list(part);
    if (hasMore) return { records, hasMore };
    const limit = part.limit - records.length;
    const bytes = records.reduce(
      (left, record) => left - StoredRecord.of(record).fieldsBytes,
      part.bytes ?? MAX_PAGE_BYTES,
    );
    if (limit === 0 || bytes <= 0) return { records, hasMore: await this.hasRecord(other) };
    const page = await this.list({ ...other, limit, bytes });
    const all = other.from?.side === 'before' ? [...page.records, ...records] : [...records, ...page.records];
    return { records: all, hasMore: page.hasMore };
  }

  /** @returns true also if it would take too long to be sure */
  private async hasRecord(query: ListQuery): Promise<boolean> {
    try {
      return (await this.list({ ...query, limit: 1 })).records.length > 0;
    } catch (error) {
      if (error instanceof AppError && error.code === 'query_too_expensive') return true;
      throw error;
    }
  }
}

/** What is left of a filter among the records that have a value in a field, or among those that lack it. */
function inPart(filter: Filter, field: string, hasValue: boolean): readonly Filter[] {
  if (filter.operator !== 'inOrNone' || filter.field !== field) return [filter];
  return hasValue ? [{ ...filter, operator: 'in' }] : [];
}

const END: Position = { side: 'before', inclusive: true, values: [] };

function withoutFirst(position: Position): Position {
  return { ...position, values: position.values.slice(1) };
}

/** Yields the pages of a list, forwards from the query's position. Reads a page when the caller needs it. */
export async function* paginate<Fields>(
  records: Pick<Repository<Fields>, 'list'>,
  query: ListQuery,
): AsyncGenerator<readonly Versioned<Fields>[], void, void> {
  const task = (query.task ?? BACKGROUND).unlimited();
  for (let next = query; ; ) {
    const page = await records.list(next);
    yield page.records;
    const last = page.records.at(-1);
    if (!last || !page.hasMore) return;
    next = { ...query, task, from: positionOf(last, query.order, 'after') };
  }
}

/**
 * Returns the first records, at most `limit`. The record that reaches `maxBytes` of JSON is the last, so a page of
 * existing records is never empty.
 */
export function takePage<Fields>(
  records: readonly StoredRecord<Fields>[],
  limit: number,
  maxBytes: number,
): StoredRecord<Fields>[] {
  let bytes = 0;
  const page: StoredRecord<Fields>[] = [];
  for (const record of records) {
    if (page.length === limit || bytes >= maxBytes) break;
    page.push(record);
    bytes += record.fieldsBytes;
  }
  return page;
}

/** When there are so many more than twice N items, they are sorted, and those behind the first N are left out. Tuning. */
const UNSORTED = 64;

/**
 * The first N of the added items, in order. The work is spread over the additions: one sort of all items at the end
 * would block other requests.
 */
export class TopN<Item> {
  private items: Item[] = [];
  /** No item behind this one is among the first N. */
  private end: Item | undefined;

  constructor(
    private readonly count: number,
    private readonly compare: (a: Item, b: Item) => number,
  ) {}

  /** Adds an item behind those that compare equal. */
  add(item: Item): void {
    if (this.end !== undefined && this.compare(item, this.end) >= 0) return;
    this.items.push(item);
    if (this.items.length > 2 * this.count + UNSORTED) this.cut();
  }

  inOrder(): readonly Item[] {
    this.cut();
    return this.items;
  }

  private cut(): void {
    this.items = this.items.sort(this.compare).slice(0, this.count);
    this.end = this.items[this.count - 1];
  }
}

/**
 * The index of the first item for which `isBefore` is false; binary search. Appending to a sorted list is quick: the
 * last item is checked first.
 * @param items sorted: items for which `isBefore` is true come first
 * @param start where the part of the items begins that is searched
 */
export function partitionPoint<Item>(
  items: ArrayLike<Item>,
  isBefore: (item: Item) => boolean,
  start = 0,
  end = items.length,
): number {
  if (end > start && isBefore(items[end - 1] as Item)) return end;
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(items[middle] as Item)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The time that a query may take if no index serves it. Only its own work counts, not that of others in between. */
export class QueryBudget {
  constructor(
    private readonly clock: Clock,
    readonly timeoutMs: number,
  ) {}

  /** Starts the time of one query. It is unlimited if its turn may take long. */
  start(task = BACKGROUND): QueryTime {
    return new QueryTime(this.clock, task.mayTakeLong ? Number.POSITIVE_INFINITY : this.timeoutMs, task);
  }

  /** Starts the time of a query that may take any time, and still yields to other work. */
  startUnlimited(task = BACKGROUND): QueryTime {
    return this.start(task.unlimited());
  }
}

export class QueryTime {
  private used = 0;
  private resumed: number;

  constructor(
    private readonly clock: Clock,
    private readonly timeoutMs: number,
    private readonly task: Task,
  ) {
    this.resumed = clock.elapsed();
  }

  /**
   * Yields to other work. Call it between two pieces of the query.
   * @returns the milliseconds that the last piece took
   * @throws AppError `query_too_expensive` when the time is used up
   */
  async checkpoint(): Promise<number> {
    const took = this.clock.elapsed() - this.resumed;
    this.used += took;
    if (this.used >= this.timeoutMs) throw queryTooExpensive();
    await this.task.yield();
    this.resumed = this.clock.elapsed();
    return took;
  }
}
