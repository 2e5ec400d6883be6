import type { QueryTime } from '../../../../application/maintenance/query-budget.js';
import { BY_ID, type Filter, type RecordTable } from '../../../../application/ports/list-query.js';
import { idRange } from '../../../../application/search/id-range.js';
import type { Id } from '../../../../domain/record.js';
import { AdaptiveBatchSize } from '../connection/adaptive-batch-size.js';
import type { Reader } from '../connection/connection.js';
import { IdSet } from '../full-text/id-set.js';
import { searchedWords, WordSearch } from '../full-text/search.js';
import { type IndexedTable, residualConditionsOf, rowCost } from '../sql/filter.js';
import { allOf, ID, indexedBy } from '../sql/schema.js';
import { indexedTable, planCount } from './plan.js';
import { idsByScan, idsWhere, oneOf } from './scan.js';
import { seeksOf } from './seek.js';
import { type FacetTuning, rowsOfSeek, rowsWithValue, slicesOfValues, type ValueRows } from './value-rows.js';

/** The ids of the records that match some filters, or of those that do not. */
export interface Matching {
  readonly ids: IdSet;
  readonly isComplement: boolean;
}

/**
 * Finds all records that match the filters. It reads the rows of several indexes at a time until those of one are over,
 * so none has to be counted before; then those of the others, if that takes less than to check each record found.
 * @param reader reads a snapshot
 * @param isPositive whether the ids shall be of the records that match; else they may be of the others
 * @throws AppError `query_too_expensive`
 */
export async function findMatching(
  reader: Reader,
  records: RecordTable,
  filters: readonly Filter[],
  time: QueryTime,
  tuning: Pick<FacetTuning, 'rows' | 'checked'>,
  isPositive = false,
): Promise<Matching> {
  const table = indexedTable(records, filters);
  const plan = planCount(reader, table, filters);
  const words = searchedWords(filters);
  const size = new AdaptiveBatchSize(time, 1, tuning.rows);
  const present = seeksOf(table, filters).map(
    (seek) => new Reading(reader, rowsOfSeek(seek), size, seek.served),
  );
  const absent = filters.filter(isAbsence).flatMap((filter) => {
    const rows = rowsWithValue(table, filter);
    return rows ? [new Reading(reader, [rows], size, [filter])] : [];
  });
  const served = [...present, ...absent].flatMap((reading) => reading.served);
  const rest = filters.filter((filter) => filter.operator !== 'search' && !served.includes(filter));
  if (!isPositive && !words && present.length === 0 && rest.length === 0) {
    const having = new Reading(
      reader,
      absent.flatMap(({ rows }) => rows),
      size,
      filters,
    );
    await having.ends(Number.POSITIVE_INFINITY);
    return { ids: having.ids, isComplement: true };
  }
  if (plan.kind === 'scan' && (words ? plan.search?.by === 'rows' : present.length === 0)) {
    const ids = new IdSet();
    for await (const some of idsByScan(reader, table, plan, time)) addAll(ids, some);
    return matching(ids);
  }
  const shortest = words ? undefined : await finishOne(present);
  const all = { words: words ?? [], ids: idRange({ filters, order: BY_ID }), descending: false };
  let ids = shortest?.ids ?? new IdSet(await new WordSearch(reader, table, all).collect(time));
  const unread: Filter[] = [...rest];
  for (const reading of [...present, ...absent]) {
    if (reading === shortest) continue;
    if (await reading.ends(ids.size * tuning.checked))
      ids = ids.narrowedBy(reading.ids, present.includes(reading));
    else unread.push(...reading.served);
  }
  return matching(unread.length === 0 ? ids : await checked(reader, table, ids, unread, time));
}

function isAbsence(filter: Filter): boolean {
  if (filter.operator === 'attribute') return 'exists' in filter && !filter.exists;
  return filter.operator === 'exists' && !filter.value;
}

function matching(ids: IdSet): Matching {
  return { ids, isComplement: false };
}

function addAll(set: IdSet, ids: readonly Id[]): void {
  for (const id of ids) set.add(id);
}

/** The ids of the rows of an index, as far as they are read. */
class Reading {
  readonly ids = new IdSet();
  private isOver = false;
  private readonly pieces: AsyncGenerator<readonly Id[], void, void>;

  /** @param served the filters whose records these are */
  constructor(
    reader: Reader,
    readonly rows: readonly ValueRows[],
    size: AdaptiveBatchSize,
    readonly served: readonly Filter[],
  ) {
    this.pieces = idsOfRows(reader, rows, size);
  }

  /** @returns whether all rows are read */
  async readOn(): Promise<boolean> {
    const { value, done } = await this.pieces.next();
    if (value) addAll(this.ids, value);
    this.isOver = done === true;
    return this.isOver;
  }

  /** Reads on, and returns whether there are no more rows than so many, approximately. */
  async ends(rows: number): Promise<boolean> {
    while (!this.isOver && this.ids.size <= rows) await this.readOn();
    return this.isOver;
  }
}

async function* idsOfRows(
  reader: Reader,
  all: readonly ValueRows[],
  size: AdaptiveBatchSize,
): AsyncGenerator<readonly Id[], void, void> {
  for (const rows of all)
    for await (const parts of slicesOfValues(reader, rows, size))
      yield parts.flatMap(({ where }) => idsWhere(reader, rows.source, where));
}

async function finishOne(readings: readonly Reading[]): Promise<Reading | undefined> {
  while (readings.length > 0) for (const reading of readings) if (await reading.readOn()) return reading;
  return undefined;
}

/** Those of the ids whose records match the filters. */
async function checked(
  reader: Reader,
  table: IndexedTable,
  ids: IdSet,
  filters: readonly Filter[],
  time: QueryTime,
): Promise<IdSet> {
  const size = new AdaptiveBatchSize(time, rowCost(table, filters));
  const conditions = residualConditionsOf(table, filters);
  const matching = new IdSet();
  for await (const some of pieces(ids, size))
    addAll(matching, idsWhere(reader, indexedBy(table, ID), allOf(oneOf(some)), conditions));
  return matching;
}

/** The ids, as many at a time as the size says. */
export async function* pieces(
  ids: Iterable<Id>,
  size: AdaptiveBatchSize,
): AsyncGenerator<readonly Id[], void, void> {
  let piece: Id[] = [];
  let length = await size.next();
  for (const id of ids) {
    piece.push(id);
    if (piece.length < length) continue;
    yield piece;
    piece = [];
    length = await size.next();
  }
  if (piece.length > 0) yield piece;
}
