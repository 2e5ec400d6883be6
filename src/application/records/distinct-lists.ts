import { AppError } from '../../domain/errors.js';
import type { Versioned } from '../../domain/record.js';
import { BACKGROUND, type Task } from '../../shared/task-scheduler.js';
import { type Filter, type ListPage, type ListQuery, MAX_PAGE_BYTES, type SortOrder } from '../ports/list-query.js';
import type { Repository } from '../ports/repository.js';
import { paginate, type QueryBudget, takePage } from './lists.js';
import { fieldValue, positionOf } from './query-semantics.js';
import { StoredRecord } from './record-json.js';

/** A request for a page of a list in which one record stands for all that share a value. */
export interface DistinctQuery extends ListQuery {
  /** An optional field of text. A record without a value stands for itself. */
  readonly distinct: string;
  /** Whether each record says how many it stands for. */
  readonly withVariants?: boolean | undefined;
}

/** The most records of the whole list that are read at once. */
const MAX_READ = 1_000;
/** An export keeps so many groups, at most about 5 MB of them; beyond that it asks the store. Tuning. */
const MOST_SEEN = 50_000;

/**
 * Lists in which the first record of each group, in the order of the list, stands for the group. A record is in the
 * list if no other one of its group that matches comes before it. Nothing is kept from page to page: the store says of
 * the groups on a page which of them have a record before it.
 */
export class DistinctLists<Fields> {
  /**
   * @param lists in any order
   * @param budget the time of a page
   */
  constructor(
    private readonly lists: Pick<Repository<Fields>, 'list'>,
    private readonly records: Pick<Repository<Fields>, 'facets'>,
    private readonly budget: QueryBudget,
    private readonly mostSeen = MOST_SEEN,
  ) {}

  /**
   * Yields the list from the query's position on, in parts: of so many records of the whole list those that stand for
   * their groups, which may be none. Only the first part has a time limit.
   */
  async *parts(query: DistinctQuery): AsyncGenerator<readonly Versioned<Fields>[], void, void> {
    let { task = BACKGROUND } = query;
    let seen = query.from ? undefined : new Set<string>();
    for await (const records of paginate(this.lists, { ...query, limit: MAX_READ })) {
      const part = { ...query, task };
      const firsts = await this.firstsAmong(part, records, seen);
      if (seen && seen.size > this.mostSeen) seen = undefined;
      yield query.withVariants ? await this.counted(part, firsts) : firsts;
      task = task.unlimited();
    }
  }

  /** @throws AppError `query_too_expensive` if so many records stand for no group that the page is not full in time */
  async list(query: DistinctQuery): Promise<ListPage<Versioned<Fields>>> {
    const page = await this.firsts(query);
    return query.withVariants ? { ...page, records: await this.counted(query, page.records) } : page;
  }

  private async firsts(query: DistinctQuery): Promise<ListPage<Versioned<Fields>>> {
    const { limit, bytes = MAX_PAGE_BYTES, order, from, task } = query;
    const time = this.budget.start(task);
    const isBackwards = from?.side === 'before';
    // In the direction of reading.
    let found: StoredRecord<Fields>[] = [];
    const seen = from ? undefined : new Set<string>();
    let next = from;
    for (let count = limit + 1; ; count = Math.min(2 * count, MAX_READ)) {
      try {
        const { records, hasMore } = await this.lists.list({ ...query, limit: count, from: next });
        const firsts = (await this.firstsAmong(query, records, seen)).map((record) => StoredRecord.of(record));
        found = [...found, ...(isBackwards ? firsts.reverse() : firsts)];
        const [first, last] = [records[0], records.at(-1)];
        const page = takePage(found, limit, bytes);
        const isCut = page.length < found.length;
        if (isCut || !hasMore || !first || !last)
          return { records: isBackwards ? page.reverse() : page, hasMore: isCut };
        next = isBackwards ? positionOf(first, order, 'before') : positionOf(last, order, 'after');
        await time.checkpoint();
      } catch (error) {
        const isFull = found.length === limit && error instanceof AppError && error.code === 'query_too_expensive';
        if (!isFull) throw error;
        return { records: isBackwards ? found.reverse() : found, hasMore: true };
      }
    }
  }

  /**
   * Those of consecutive records of the whole list that stand for their groups.
   * @param seen the groups of all records before these, to be completed; absent: not known
   */
  private async firstsAmong(
    query: DistinctQuery,
    records: readonly Versioned<Fields>[],
    seen?: Set<string>,
  ): Promise<readonly Versioned<Fields>[]> {
    const before = seen ?? (await this.groupsBefore(query, records));
    return records.filter((record) => {
      const group = groupOf(record, query.distinct);
      if (group === undefined) return true;
      if (before.has(group)) return false;
      before.add(group);
      return true;
    });
  }

  /** The groups of consecutive records that have a record before all of these. */
  private async groupsBefore(
    { filters, order, task, distinct: field }: DistinctQuery,
    records: readonly Versioned<Fields>[],
  ): Promise<Set<string>> {
    const before = new Set<string>();
    const others = groupsOf(records, field);
    const [first] = records;
    for (const part of first ? partsBefore(first, order) : []) {
      if (others.size === 0) break;
      const counts = await this.variantsOf([...filters, ...part], field, others, task);
      for (const group of counts.keys()) {
        before.add(group);
        others.delete(group);
      }
    }
    return before;
  }

  /** The records, each with the number of those that it stands for. */
  private async counted(
    { filters, distinct: field, task }: DistinctQuery,
    records: readonly Versioned<Fields>[],
  ): Promise<readonly Versioned<Fields>[]> {
    const counts = await this.variantsOf(filters, field, groupsOf(records, field), task);
    return records.map((record) => {
      const group = groupOf(record, field);
      // A group whose records were all deleted meanwhile has no count.
      const variants = (group !== undefined && counts.get(group)) || 1;
      return Object.assign(StoredRecord.of(record).asText(), { variants });
    });
  }

  private async variantsOf(
    filters: readonly Filter[],
    field: string,
    groups: ReadonlySet<string>,
    task: Task | undefined,
  ): Promise<ReadonlyMap<string, number>> {
    if (groups.size === 0) return new Map();
    const isAmong: Filter = { field, operator: 'in', values: [...groups] };
    const query = { filters: [...filters, isAmong], fields: [{ field }], limit: groups.size, task };
    const [facet] = await this.records.facets(query);
    return new Map(facet?.values.map(({ value, count }) => [value as string, count]));
  }
}

/**
 * The filters of each part of what comes before a record: what the first key of the order decides, then what ties with
 * the record there and the second key decides, and so on.
 */
function partsBefore(record: Versioned<unknown>, order: SortOrder): Filter[][] {
  const ties: Filter[] = [];
  return order.map(({ field, descending }) => {
    const value = fieldValue(record, field);
    const before: Filter =
      value === undefined
        ? { field, operator: 'exists', value: true }
        : { field, operator: descending ? 'gt' : 'lt', value };
    const part = [...ties, before];
    if (value === undefined) ties.push({ field, operator: 'exists', value: false });
    // Not `eq`, which ignores differences that an order does not.
    else ties.push({ field, operator: 'gte', value }, { field, operator: 'lte', value });
    return part;
  });
}

function groupOf(record: Versioned<unknown>, field: string): string | undefined {
  return fieldValue(record, field) as string | undefined;
}

function groupsOf(records: readonly Versioned<unknown>[], field: string): Set<string> {
  return new Set(records.flatMap((record) => groupOf(record, field) ?? []));
}
