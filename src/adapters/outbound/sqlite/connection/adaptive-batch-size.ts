import type { QueryTime } from '../../../../application/maintenance/query-budget.js';

/** Rows of the first slice, and the bounds of the next ones. */
const ROWS = { first: 32, min: 4, max: 1_024 };
/** After a faster slice the next has twice the rows, after a slower slice half the rows. */
const FAST_MS = 1;
const SLOW_MS = 3;

/** See {@link QueryTime}. */
export type Checkpoints = Pick<QueryTime, 'checkpoint'>;

/** Makes slices of one to three milliseconds. Between two slices other requests have their turn. */
export class AdaptiveBatchSize {
  private rows: number;
  /** What a row of the last slice took. */
  msPerRow = Number.POSITIVE_INFINITY;

  private readonly min: number;
  private readonly max: number;

  /**
   * @param cost relative cost of a row (1 = usual); divides the sizes
   * @param lastRows the rows of a slice that is read before the first call of {@link next}; 0 if there is none
   */
  constructor(
    private readonly time: Checkpoints,
    cost = 1,
    bounds = ROWS,
    private lastRows = 0,
  ) {
    this.rows = rowsAt(cost, bounds.first);
    this.min = rowsAt(cost, bounds.min);
    this.max = rowsAt(cost, bounds.max);
  }

  /** @throws AppError `query_too_expensive` */
  async next(): Promise<number> {
    const ms = await this.time.checkpoint();
    this.msPerRow = ms / Math.max(this.lastRows, 1);
    if (ms < FAST_MS && this.lastRows > 0) this.rows = Math.min(this.rows * 2, this.max);
    if (ms > SLOW_MS) this.rows = Math.max(this.rows >> 1, this.min);
    this.lastRows = this.rows;
    return this.rows;
  }
}

function rowsAt(cost: number, rows: number): number {
  return Math.max(1, Math.floor(rows / cost));
}
