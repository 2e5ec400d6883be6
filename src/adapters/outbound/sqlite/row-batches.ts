import type {
  ListQuery,
  Position,
  RecordTable,
  SortOrder,
  Value,
} from '../../../application/records/list-query.js';
import { compareInOrder, positionOf, valuesOf } from '../../../application/records/query-semantics.js';
import { yieldFairly } from '../../../shared/event-loop.js';
import type { Reader } from './connection.js';
import { residualConditionOf } from './filter.js';
import {
  afterBlock,
  keysetCondition,
  nextRange,
  orderBy,
  type ScanPosition,
  scanOrder,
  scanPositionAt,
  scanStart,
} from './index-scan.js';
import type { FilterThenSort, ScanPlan } from './list-plan.js';
import { allOf, RECORD_COLUMNS, type RecordRow, recordOf, type Sql } from './schema.js';
import { FixedSlice, type TimeSlice } from './time-slice.js';

/** The most rows, and approximately the most bytes, that one statement reads. */
const MAX_BATCH = 128;
const BATCH_BYTES = 262_144;

/** The weight of a large batch falls by this factor with each later batch. */
const DECAY = 0.8;

/** The number of rows to read at once, learned from the size of a table's earlier rows. */
export class BatchSize {
  private bytesPerRow = 1;

  get rows(): number {
    return Math.max(1, Math.min(MAX_BATCH, Math.floor(BATCH_BYTES / this.bytesPerRow)));
  }

  learn(rows: readonly RecordRow[]): void {
    if (rows.length === 0) return;
    const mean = rows.reduce((sum, row) => sum + row[4].length, 0) / rows.length;
    this.bytesPerRow = Math.max(mean, this.bytesPerRow * DECAY, 1);
  }
}

/** Reads the rows of a list in the order of the scan, at most `batchSize` at once. */
export class RowReader {
  readonly order: SortOrder;
  /** The client that sent the query. */
  readonly client: string | undefined;
  readonly batchSize: number;
  private readonly filters: readonly Sql[];

  constructor(
    readonly reader: Reader,
    table: RecordTable,
    query: ListQuery,
    private readonly sizes: BatchSize,
  ) {
    this.order = scanOrder(query);
    this.client = query.client;
    this.batchSize = Math.min(query.limit + 1, sizes.rows);
    this.filters = query.filters.map((filter) => residualConditionOf(table, filter));
  }

  /**
   * The first rows of a range that lie behind `position`.
   * @param source the table and the index that serves the range
   */
  rows(source: string, range: Sql, position: Position | undefined): RecordRow[] {
    const where = allOf([
      range,
      ...this.filters,
      ...(position ? [keysetCondition(this.order, position)] : []),
    ]);
    const rows = this.reader.read(
      `SELECT ${RECORD_COLUMNS} FROM ${source} WHERE ${where.text} ORDER BY ${orderBy(this.order)} LIMIT ?`,
      (statement) => statement.raw().all(...where.values, this.batchSize) as RecordRow[],
    );
    this.sizes.learn(rows);
    return rows;
  }

  /** The position behind a full batch; undefined if the batch is not full, because then its range has no more rows. */
  nextPosition(rows: readonly RecordRow[]): Position | undefined {
    const last = rows.at(-1);
    return last && rows.length === this.batchSize
      ? positionOf(recordOf(last), this.order, 'after')
      : undefined;
  }
}

/** Batches of rows in the order of the scan. Returns true if it gave up the search, so that there may be more rows. */
export type RowBatches = AsyncGenerator<readonly RecordRow[], boolean, void>;

/** How far the scan looks for another row after a full page: at most this many slices of this many rows. */
const LOOKAHEADS = 4;
const LOOKAHEAD_ROWS = 512;

/** Fetches the few rows that match, and sorts them anew for each batch. */
export async function* sortInMemory(
  rows: RowReader,
  plan: FilterThenSort,
  from: Position | undefined,
): RowBatches {
  for (let position = from; ; ) {
    const batch = rows.rows(plan.source, plan.condition, position);
    yield batch;
    position = rows.nextPosition(batch);
    if (!position) return false;
    await yieldFairly(rows.client);
  }
}

/** Scans an index in the order of the list. Each batch holds the rows of one slice that match the filters. */
export class ScanBatches {
  constructor(
    private readonly rows: RowReader,
    private readonly plan: ScanPlan,
    private readonly slice: TimeSlice,
  ) {}

  /** @param isFull whether the page is complete, so that the scan only looks whether there are more rows */
  async *from(start: Position | undefined, isFull: () => boolean): RowBatches {
    const { scan, isIndexed } = this.plan;
    const { order } = this.rows;
    let position = start;
    let lookaheads = 0;
    for (let at = position ? scanPositionAt(scan, order, position) : scanStart(scan); at; ) {
      const isLookahead = isFull() && !isIndexed;
      if (isLookahead && lookaheads++ === LOOKAHEADS) return true;
      const step = isLookahead ? this.lookAhead(at, position) : await this.step(at, position);
      yield step.rows;
      const next = this.rows.nextPosition(step.rows);
      position = next ?? position;
      at = next ? scanPositionAt(scan, order, next) : step.next;
      await (isLookahead ? yieldFairly(this.rows.client) : this.slice.checkpoint());
    }
    return false;
  }

  private async step(at: ScanPosition, position: Position | undefined): Promise<Step> {
    const { range, rows } = this.read(this.slice, at, position);
    if (range.kind === 'blocks' || this.rows.order.length <= 2) return { rows, next: range.next };
    return { rows: await this.firstOfBlock(range.block, position), next: afterBlock(range.block) };
  }

  /** Looks for any other row. */
  private lookAhead(at: ScanPosition, position: Position | undefined): Step {
    const { range, rows } = this.read(new FixedSlice(LOOKAHEAD_ROWS, this.rows.client), at, position);
    return { rows, next: range.next };
  }

  private read(slice: TimeSlice, at: ScanPosition, position: Position | undefined) {
    const { scan } = this.plan;
    return slice.run((size) => {
      const range = nextRange(this.rows.reader, scan, at, size);
      return { range, rows: this.rows.rows(scan.source, range.rows, position) };
    });
  }

  /** The first rows, in the order of the list, of a block that is too large to be sorted at once. */
  private async firstOfBlock(block: Value, position: Position | undefined): Promise<RecordRow[]> {
    let first: RecordRow[] = [];
    for (let at: ScanPosition | undefined = { kind: 'block', block }; at?.kind === 'block'; ) {
      const { range, rows } = this.read(this.slice, at, position);
      first = firstOf(this.rows, [...first, ...rows]);
      at = range.next;
      await this.slice.checkpoint();
    }
    return first;
  }
}

interface Step {
  readonly rows: readonly RecordRow[];
  readonly next?: ScanPosition | undefined;
}

function firstOf({ order, batchSize }: RowReader, rows: readonly RecordRow[]): RecordRow[] {
  return rows
    .map((row) => ({ row, values: valuesOf(recordOf(row), order) }))
    .sort((a, b) => compareInOrder(order, a.values, b.values))
    .slice(0, batchSize)
    .map(({ row }) => row);
}
