import type { ListPlace, Value } from '../../../application/list-query.js';
import { compareInOrder, valuesOf } from '../../../application/record-order.js';
import { turnInLine } from '../../../shared/event-loop.js';
import type { FewRows, WalkPlan } from './list-plan.js';
import { type BoundedPace, type Pace, SteadyPace } from './pace.js';
import type { RowSource } from './row-source.js';
import { type Row, recordOf } from './rows.js';
import { behindBlock, nextWindow, type Position, positionAt, startOf } from './walk.js';

/**
 * Rows in the order of reading, a batch at a time. In the end: whether there may be more, where looking for them was
 * given up.
 */
export type Batches = AsyncGenerator<readonly Row[], boolean, void>;

/** For whether there is a row beyond a page that is full, so many windows of so many rows are looked through. */
const LOOKS = 4;
const LOOK_ROWS = 512;

type Place = ListPlace | undefined;

/** All of few rows, sorted anew for each batch. */
export async function* amongFew(source: RowSource, few: FewRows, from: Place): Batches {
  for (let place = from; ; ) {
    const rows = source.rows(few.source, few.rows, place);
    yield rows;
    place = source.placeBehind(rows);
    if (!place) return false;
    await turnInLine(source.client);
  }
}

/** Along a walk in the list's own order, of which the batches are the rows that are sought. */
export class WalkBatches {
  constructor(
    private readonly source: RowSource,
    private readonly plan: WalkPlan,
    private readonly pace: BoundedPace | SteadyPace,
  ) {}

  /** @param isFull whether whoever reads has all that it wants, but for knowing whether there is more */
  async *from(start: Place, isFull: () => boolean): Batches {
    const { walk, isServed } = this.plan;
    const { order } = this.source;
    let place = start;
    let looks = 0;
    for (let at = place ? positionAt(walk, order, place) : startOf(walk); at; ) {
      const isLooking = isFull() && !isServed;
      if (isLooking && looks++ === LOOKS) return true;
      const step = isLooking ? this.look(at, place) : await this.step(at, place);
      yield step.rows;
      const behind = this.source.placeBehind(step.rows);
      place = behind ?? place;
      at = behind ? positionAt(walk, order, behind) : step.next;
      await (isLooking ? turnInLine(this.source.client) : this.pace.turn());
    }
    return false;
  }

  private async step(at: Position, place: Place): Promise<Step> {
    const { window, rows } = this.read(this.pace, at, place);
    if (window.kind === 'blocks' || this.source.order.length <= 2) return { rows, next: window.next };
    return { rows: await this.firstOfBlock(window.block, place), next: behindBlock(window.block) };
  }

  /** Any row will do. */
  private look(at: Position, place: Place): Step {
    const { window, rows } = this.read(new SteadyPace(LOOK_ROWS, this.source.client), at, place);
    return { rows, next: window.next };
  }

  private read(pace: Pace, at: Position, place: Place) {
    const { walk } = this.plan;
    return pace.window((size) => {
      const window = nextWindow(this.source.reader, walk, at, size);
      return { window, rows: this.source.rows(walk.source, window.rows, place) };
    });
  }

  /** The first rows, in the list's order, of a block that is too large to be sorted at once. */
  private async firstOfBlock(block: Value, place: Place): Promise<Row[]> {
    let first: Row[] = [];
    for (let at: Position | undefined = { kind: 'block', block }; at?.kind === 'block'; ) {
      const { window, rows } = this.read(this.pace, at, place);
      first = firstOf(this.source, [...first, ...rows]);
      at = window.next;
      await this.pace.turn();
    }
    return first;
  }
}

interface Step {
  readonly rows: readonly Row[];
  readonly next?: Position | undefined;
}

function firstOf({ order, batch }: RowSource, rows: readonly Row[]): Row[] {
  return rows
    .map((row) => ({ row, values: valuesOf(recordOf(row), order) }))
    .sort((a, b) => compareInOrder(order, a.values, b.values))
    .slice(0, batch)
    .map(({ row }) => row);
}
