import type { QueryTime } from '../../../../application/maintenance/query-budget.js';
import {
  BY_ID,
  type Filter,
  type ListQuery,
  type RecordTable,
} from '../../../../application/records/list-query.js';
import { type IdRange, idRange, isAscendingRead } from '../../../../application/search/id-range.js';
import type { Id } from '../../../../domain/record.js';
import type { Reader } from '../connection/connection.js';
import type { Checkpoints } from '../lists/adaptive-batch-size.js';
import type { IndexScan } from '../lists/index-scan.js';
import { planScan, type ScanPlan, type Slice, type Slices, smallestIndexRange } from '../lists/plan.js';
import { countByScan, scanSlices } from '../lists/scan.js';
import { isRange, residualConditionsOf } from '../records/filter.js';
import { allOf, ID, indexedBy, keysetCondition, type Sql, scanOrder, sql } from '../records/schema.js';
import { BLOCK_IDS } from './index.js';
import type { WordSearch } from './search.js';

/** More matching records than these are not sorted: the scan of an index that has their order passes them. */
const MAX_SORTED = 1_000;

/** The ids that the filters and the position of a list in order of id allow, and whether they are all it asks for. */
export function idsOf(
  query: Pick<ListQuery, 'order' | 'from'>,
  filters: readonly Filter[],
): IdRange & { readonly isAll: boolean; readonly descending: boolean } {
  const isById = query.order[0]?.field === 'id';
  const isAll = isById && filters.every((filter) => filter.field === 'id' && isRange(filter));
  return { ...idRange({ ...query, filters }), descending: !isAscendingRead(query), isAll };
}

/**
 * Plans a search of words that the index does not answer alone.
 * @param filters the filters without the search
 * @param time of the whole search
 * @throws AppError `query_too_expensive`
 */
export async function planWords(
  reader: Reader,
  table: RecordTable,
  query: ListQuery,
  filters: readonly Filter[],
  search: WordSearch,
  time: Checkpoints,
): Promise<ScanPlan> {
  const order = scanOrder(query);
  const position = query.from ? [keysetCondition(order, query.from)] : [];
  const few = fewCandidates(reader, table, filters, search);
  if (few) return { ...few, conditions: [...few.conditions, ...position] };
  const { descending, ...range } = idsOf(query, filters);
  const conditions = [...residualConditionsOf(table, filters), ...position];
  const plan = { kind: 'scan', scan: byId(table), conditions } as const;
  if (order.length === 1) {
    const slices = slicesById((current) => search.find(reader, range, descending, current));
    return { ...plan, sorted: 'rows', slices };
  }
  const matching = new IdSet();
  for await (const ids of search.find(reader, range, false, time)) for (const id of ids) matching.add(id);
  if (matching.size <= MAX_SORTED)
    return { ...plan, sorted: 'nothing', slices: slicesById(() => [[...matching]]) };
  const scan = planScan(table, { ...query, filters });
  return { ...scan, scan: byId(table), slices: slicesAmong(reader, scan, matching) };
}

/**
 * Counts the records of a search.
 * @param filters the filters without the search
 * @throws AppError `query_too_expensive`
 */
export async function countWords(
  reader: Reader,
  table: RecordTable,
  filters: readonly Filter[],
  search: WordSearch,
  time: QueryTime,
): Promise<number> {
  const query = { limit: 1, filters, order: BY_ID };
  const { isAll, descending, ...range } = idsOf(query, filters);
  if (!isAll)
    return countByScan(reader, await planWords(reader, table, query, filters, search, time), filters, time);
  let count = 0;
  for await (const ids of search.find(reader, range, descending, time)) count += ids.length;
  return count;
}

/** The records of the other filters, if those are few, that have the words. */
function fewCandidates(
  reader: Reader,
  table: RecordTable,
  filters: readonly Filter[],
  search: WordSearch,
): ScanPlan | undefined {
  const few = smallestIndexRange(reader, table, filters);
  if (few?.kind !== 'sort') return undefined;
  const { text, values } = allOf(few.conditions);
  const candidates = reader.read(
    `SELECT id FROM ${few.source} WHERE ${text} ORDER BY id`,
    (statement) => statement.all([...values]) as [Id][],
  );
  const ids = candidates.map(([id]) => id);
  return {
    kind: 'scan',
    scan: byId(table),
    conditions: few.conditions,
    sorted: 'nothing',
    slices: slicesById((time) => search.check(reader, ids, time)),
  };
}

function byId(table: RecordTable): IndexScan {
  return { source: indexedBy(table, ID), column: ID, descending: false, idDescending: false, range: {} };
}

function oneOf(ids: readonly Id[]): Sql {
  return sql(`${ID} IN (SELECT value FROM json_each(?))`, JSON.stringify(ids));
}

type Pieces = AsyncIterable<readonly Id[]> | Iterable<readonly Id[]>;

/** @param find returns the ids in the order in which they are read */
function slicesById(find: (time: Checkpoints) => Pieces): Slices {
  return async function* (nextSize, time): AsyncGenerator<Slice, void, void> {
    for await (const ids of find(time)) {
      if (ids.length === 0) yield { ranges: [], end: { value: 0 } };
      for (let at = 0; at < ids.length; ) {
        const part = ids.slice(at, at + (await nextSize()));
        at += part.length;
        yield { ranges: [oneOf(part)], end: { value: part.at(-1) ?? 0 } };
      }
    }
    yield { ranges: [], end: undefined };
  };
}

/** The rows of a scan that belong to a set. */
function slicesAmong(reader: Reader, plan: ScanPlan, matching: IdSet): Slices {
  return async function* (nextSize): AsyncGenerator<Slice, void, void> {
    for await (const { ranges, end } of scanSlices(reader, plan, nextSize)) {
      const ids = ranges.flatMap(({ text, values }) => {
        const select = `SELECT id FROM ${plan.scan.source} WHERE ${text}`;
        const rows = reader.read(select, (statement) => statement.all([...values]) as [Id][]);
        return rows.flatMap(([id]) => (matching.has(id) ? [id] : []));
      });
      yield { ranges: ids.length > 0 ? [oneOf(ids)] : [], end };
    }
  };
}

/** A set of ids in a bit for each id of its blocks. */
class IdSet {
  private readonly blocks = new Map<number, Uint8Array>();
  size = 0;

  /** @param id not in the set */
  add(id: Id): void {
    const block = Math.floor(id / BLOCK_IDS);
    const bits = this.blocks.get(block) ?? new Uint8Array(BLOCK_IDS / 8);
    this.blocks.set(block, bits);
    const at = id % BLOCK_IDS;
    bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
    this.size++;
  }

  has(id: Id): boolean {
    const at = id % BLOCK_IDS;
    return ((this.blocks.get(Math.floor(id / BLOCK_IDS))?.[at >> 3] ?? 0) & (1 << (at & 7))) !== 0;
  }

  *[Symbol.iterator](): Generator<Id, void, void> {
    for (const [block, bits] of this.blocks) {
      const first = block * BLOCK_IDS;
      for (let at = 0; at < BLOCK_IDS; at++) if ((bits[at >> 3] ?? 0) & (1 << (at & 7))) yield first + at;
    }
  }
}
