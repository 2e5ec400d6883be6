import type { QueryTime } from '../../../application/maintenance/query-budget.js';

/** Rows of the first slice, and the bounds of the next ones. */
const ROWS = { first: 32, min: 4, max: 1_024 };
/** After a faster slice the next has twice the rows, after a slower slice half the rows. */
const FAST_MS = 1;
const SLOW_MS = 3;

/** See {@link QueryTime}. */
export type Checkpoints = Pick<QueryTime, 'checkpoint'>;

/** Makes slices of one to three milliseconds. Between two slices other requests have their turn. */
export class Pace {
  private rows: number;
  private lastRows = 1;
  /** What a row of the last slice took. */
  msPerRow = Number.POSITIVE_INFINITY;

  constructor(
    private readonly time: Checkpoints,
    private readonly bounds = ROWS,
  ) {
    this.rows = bounds.first;
  }

  /** @throws AppError `query_too_expensive` */
  async next(): Promise<number> {
    const { min, max } = this.bounds;
    const ms = await this.time.checkpoint();
    this.msPerRow = ms / this.lastRows;
    if (ms < FAST_MS) this.rows = Math.min(this.rows * 2, max);
    if (ms > SLOW_MS) this.rows = Math.max(this.rows >> 1, min);
    this.lastRows = this.rows;
    return this.rows;
  }
}
