import { AppError } from '../../domain/errors.js';
import { type Id, MAX_ID } from '../../domain/record.js';
import { BY_ID, type Filter, type ListPage, type ListQuery, MAX_PAGE_BYTES } from '../ports/list-query.js';
import type { QueryBudget, QueryTime } from './lists.js';

/** Ids from `low` to `high`, both included. */
export interface IdRange {
  readonly low: Id;
  /** May be infinite. */
  readonly high: Id;
}

/** The ids that the filters on the id, and the position of a list by id, leave. */
export function idRange(query: Pick<ListQuery, 'filters' | 'order' | 'from'>): IdRange {
  const { filters, from } = query;
  let [low, high] = [0, Number.POSITIVE_INFINITY];
  const above = (id: number, inclusive: boolean) => {
    low = Math.max(low, inclusive ? Math.ceil(id) : Math.floor(id) + 1);
  };
  const below = (id: number, inclusive: boolean) => {
    high = Math.min(high, inclusive ? Math.floor(id) : Math.ceil(id) - 1);
  };
  for (const filter of filters) {
    if (filter.field !== 'id') continue;
    const values = 'values' in filter ? filter.values : 'value' in filter ? [filter.value] : [];
    const [least, greatest] = [Math.min(...values.map(Number)), Math.max(...values.map(Number))];
    const { operator } = filter;
    if (operator === 'gt' || operator === 'gte') above(least, operator === 'gte');
    if (operator === 'lt' || operator === 'lte') below(greatest, operator === 'lte');
    if (operator === 'eq' || operator === 'in') {
      above(least, true);
      below(greatest, true);
    }
  }
  const beyond = isAscendingRead(query) ? above : below;
  if (from?.values.length && query.order[0]?.field === 'id') beyond(Number(from.values[0]), from.inclusive);
  return { low, high };
}

/** Whether the words of a search and the ids decide alone, so that an index of words leads to the records. */
export function hasOnlyIdFilters(filters: readonly Filter[]): boolean {
  return filters.every(({ operator, field }) => operator === 'search' || field === 'id');
}

/** Whether a list by id is read from its lowest id on. */
export function isAscendingRead({ order, from }: Pick<ListQuery, 'order' | 'from'>): boolean {
  return (order[0]?.descending === true) === (from?.side === 'before');
}

/** Whether a list or count is read block by block: a search in order of id. */
function isReadByBlocks({ filters, order }: Pick<ListQuery, 'filters' | 'order'>): boolean {
  return order[0]?.field === 'id' && filters.some(({ operator }) => operator === 'search');
}

export interface Blocks {
  /** The number of consecutive ids of a block. */
  readonly unit: number;
  /** Returns the first or the last id of all records; undefined if there is none. */
  readonly findEdge: (side: 'first' | 'last') => Promise<Id | undefined>;
}

/**
 * Returns one page of a list, a search in order of id block by block.
 * @param read returns what a part of the ids has of a page; the limits of its query are what is left of the page's. Called
 *   once without a range if the list is none of these
 * @throws AppError `query_too_expensive`
 */
export async function listByBlocks<Item extends { readonly fieldsBytes: number }>(
  query: ListQuery,
  blocks: Blocks,
  budget: QueryBudget,
  read: (query: ListQuery, range?: IdRange) => Promise<ListPage<Item>>,
): Promise<ListPage<Item>> {
  if (!isReadByBlocks(query)) return read(query);
  const { limit, bytes = MAX_PAGE_BYTES, from } = query;
  const found: Item[] = [];
  let hasMore = false;
  let size = 0;
  await scanBlocks(scanOf(query, blocks, budget), async (range) => {
    const page = await read({ ...query, limit: limit - found.length, bytes: bytes - size }, range);
    found.push(...(from?.side === 'before' ? page.records.toReversed() : page.records));
    for (const { fieldsBytes } of page.records) size += fieldsBytes;
    hasMore = page.hasMore;
    return hasMore;
  });
  return { records: from?.side === 'before' ? found.reverse() : found, hasMore };
}

/**
 * Counts the records that match, those of a search block by block.
 * @param count counts those in a part of the ids; in all if it is none
 * @throws AppError `query_too_expensive`
 */
export async function countByBlocks(
  query: Pick<ListQuery, 'filters' | 'task'>,
  blocks: Blocks,
  budget: QueryBudget,
  count: (range?: IdRange) => Promise<number>,
): Promise<number> {
  const byId = { ...query, order: BY_ID };
  if (!isReadByBlocks(byId)) return count();
  let sum = 0;
  await scanBlocks(scanOf(byId, blocks, budget), async (range) => {
    sum += await count(range);
    return false;
  });
  return sum;
}

/** If ids and words decide alone, each block takes a short time, and the search may take any. */
function scanOf(
  query: Pick<ListQuery, 'filters' | 'order' | 'from' | 'task'>,
  blocks: Blocks,
  budget: QueryBudget,
): BlockScan {
  const { filters, task } = query;
  const mayTakeLong = task?.mayTakeLong || hasOnlyIdFilters(filters);
  return {
    ...blocks,
    range: idRange(query),
    isAscending: isAscendingRead(query),
    time: mayTakeLong ? budget.startUnlimited(task) : budget.start(task),
    mayTakeLong,
  };
}

export interface BlockScan extends Blocks {
  /** The ids that may be in the list. */
  readonly range: IdRange;
  readonly isAscending: boolean;
  readonly time: QueryTime;
  /** Whether a range that takes too long is read again in smaller parts. */
  readonly mayTakeLong: boolean;
}

/** After a range that took less than `belowMs`, the next one has `factor` times the blocks. */
const GROWTH = [
  { belowMs: 50, factor: 16 },
  { belowMs: 200, factor: 2 },
  { belowMs: 500, factor: 1 },
  { belowMs: Number.POSITIVE_INFINITY, factor: 1 / 4 },
] as const;

/**
 * Reads one range of whole blocks after another, in the order of ids, until `read` returns true. The first is one
 * block, so a common word costs little; the next grow, so a rare word takes few round trips.
 * @throws AppError `query_too_expensive`
 */
export async function scanBlocks(scan: BlockScan, read: (range: IdRange) => Promise<boolean>): Promise<void> {
  const { isAscending, findEdge, time, unit } = scan;
  let { low, high } = scan.range;
  if (!isAscending && high > MAX_ID) high = (await findEdge('last')) ?? -1;
  let edge: Id | undefined;
  for (let blocks = 1; low <= high; ) {
    const part = nextPart({ low, high }, blocks * unit, scan, edge);
    try {
      if (await read(part)) return;
    } catch (error) {
      const isTooExpensive = error instanceof AppError && error.code === 'query_too_expensive';
      const mayRetry = scan.mayTakeLong && blocks > 1 && isTooExpensive;
      if (!mayRetry) throw error;
      blocks = Math.max(1, Math.floor(blocks / 16));
      await time.checkpoint();
      continue;
    }
    if (part.low === low && part.high === high) return;
    if (isAscending) low = part.high + 1;
    else high = part.low - 1;
    const ms = await time.checkpoint();
    const factor = GROWTH.find(({ belowMs }) => ms < belowMs)?.factor ?? 1;
    blocks = Math.max(1, Math.floor(blocks * factor));
    edge ??= (await findEdge(isAscending ? 'last' : 'first')) ?? (isAscending ? -1 : MAX_ID);
    if (isAscending ? low > edge : high < edge) return;
  }
}

/**
 * The next ids of a range, to the end of a unit. A part that reaches the edge, beyond which no record is, is all that
 * is left.
 */
function nextPart(left: IdRange, ids: number, { isAscending, unit }: BlockScan, edge: Id | undefined): IdRange {
  if (isAscending) {
    const high = left.low - (left.low % unit) + ids - 1;
    return high >= left.high || (edge !== undefined && high >= edge) ? left : { low: left.low, high };
  }
  const low = left.high - (left.high % unit) + unit - ids;
  return low <= left.low || (edge !== undefined && low <= edge) ? left : { low, high: left.high };
}
