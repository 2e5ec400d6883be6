import type { QueryTime } from '../../../application/maintenance/query-budget.js';
import type { ListQuery } from '../../../application/ports/list-query.js';
import type { IdRange } from '../../../application/search/id-range.js';
import { AppError } from '../../../domain/errors.js';
import { type Id, MAX_ID } from '../../../domain/record.js';

/** Whether a list or count is read block by block: a search in order of id. */
export function isReadByBlocks({ filters, order }: Pick<ListQuery, 'filters' | 'order'>): boolean {
  return order[0]?.field === 'id' && filters.some(({ operator }) => operator === 'search');
}

export interface BlockScan {
  /** The ids that may be in the list. */
  readonly range: IdRange;
  readonly isAscending: boolean;
  /** Returns the first or the last id of all records; undefined if there is none. */
  readonly findEdge: (side: 'first' | 'last') => Promise<Id | undefined>;
  readonly time: QueryTime;
  /** The number of ids by which the parts of the range are counted. */
  readonly unit: number;
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
      const mayRetry = scan.mayTakeLong && blocks > 1 && isTooExpensive(error);
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
  }
}

/**
 * The next ids of a range, to the end of a unit. A part that reaches the edge, beyond which no record is, is all that
 * is left.
 */
function nextPart(
  left: IdRange,
  ids: number,
  { isAscending, unit }: BlockScan,
  edge: Id | undefined,
): IdRange {
  if (isAscending) {
    const high = left.low - (left.low % unit) + ids - 1;
    return high >= left.high || (edge !== undefined && high >= edge) ? left : { low: left.low, high };
  }
  const low = left.high - (left.high % unit) + unit - ids;
  return low <= left.low || (edge !== undefined && low <= edge) ? left : { low, high: left.high };
}

function isTooExpensive(error: unknown): boolean {
  return error instanceof AppError && error.code === 'query_too_expensive';
}
