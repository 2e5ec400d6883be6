import type { ListPlace, Value } from '../../../application/list-query.js';
import { compareInOrder, valuesOf } from '../../../application/record-order.js';
import { turnInLine } from '../../../application/turns.js';
import { afterBlock, nextRange, type ScanPosition, scanPositionAt, scanStart } from './index-scan.js';
import type { FilterThenSort, ScanPlan } from './list-plan.js';
import type { RowReader } from './row-source.js';
import { type RecordRow, recordOf } from './rows.js';
import { type BudgetedSlice, FixedSlice, type TimeSlice } from './time-slice.js';

/**
 * Rows in the order of reading, a batch at a time. In the end: whether there may be more, where looking for them was
 * given up.
 */
export type RowBatches = AsyncGenerator<readonly RecordRow[], boolean, void>;

/** For whether there is a row beyond a page that is full, so many windows of so many rows are looked through. */
const LOOKS = 4;
const LOOK_ROWS = 512;

type Place = ListPlace | undefined;

/** All of few rows, sorted anew for each batch. */
export async function* sortInMemory(source: RowReader, few: FilterThenSort, from: Place): RowBatches {
  for (let place = from; ; ) {
    const rows = source.rows(few.source, few.condition, place);
    yield rows;
    place = source.nextPlace(rows);
    if (!place) return false;
    await turnInLine(source.client);
  }
}

/** Along a walk in the list's own order, of which the batches are the rows that are sought. */
export class ScanBatches {
  constructor(
    private readonly source: RowReader,
    private readonly plan: ScanPlan,
    private readonly pace: BudgetedSlice | FixedSlice,
  ) {}

  /** @param isFull whether whoever reads has all that it wants, but for knowing whether there is more */
  async *from(start: Place, isFull: () => boolean): RowBatches {
    const { scan, isIndexed } = this.plan;
    const { order } = this.source;
    let place = start;
    let looks = 0;
    for (let at = place ? scanPositionAt(scan, order, place) : scanStart(scan); at; ) {
      const isLooking = isFull() && !isIndexed;
      if (isLooking && looks++ === LOOKS) return true;
      const step = isLooking ? this.look(at, place) : await this.step(at, place);
      yield step.rows;
      const behind = this.source.nextPlace(step.rows);
      place = behind ?? place;
      at = behind ? scanPositionAt(scan, order, behind) : step.next;
      await (isLooking ? turnInLine(this.source.client) : this.pace.checkpoint());
    }
    return false;
  }

  private async step(at: ScanPosition, place: Place): Promise<Step> {
    const { window, rows } = this.read(this.pace, at, place);
    if (window.kind === 'blocks' || this.source.order.length <= 2) return { rows, next: window.next };
    return { rows: await this.firstOfBlock(window.block, place), next: afterBlock(window.block) };
  }

  /** Any row will do. */
  private look(at: ScanPosition, place: Place): Step {
    const { window, rows } = this.read(new FixedSlice(LOOK_ROWS, this.source.client), at, place);
    return { rows, next: window.next };
  }

  private read(pace: TimeSlice, at: ScanPosition, place: Place) {
    const { scan } = this.plan;
    return pace.run((size) => {
      const window = nextRange(this.source.reader, scan, at, size);
      return { window, rows: this.source.rows(scan.source, window.rows, place) };
    });
  }

  /** The first rows, in the list's order, of a block that is too large to be sorted at once. */
  private async firstOfBlock(block: Value, place: Place): Promise<RecordRow[]> {
    let first: RecordRow[] = [];
    for (let at: ScanPosition | undefined = { kind: 'block', block }; at?.kind === 'block'; ) {
      const { window, rows } = this.read(this.pace, at, place);
      first = firstOf(this.source, [...first, ...rows]);
      at = window.next;
      await this.pace.checkpoint();
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
