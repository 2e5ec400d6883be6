import type { QueryBudget, QueryTime } from '../../../application/maintenance/query-budget.js';
import { yieldFairly } from '../../../shared/event-loop.js';

/** Divides long work into slices of some rows; between two slices other requests have their turn. */
export interface TimeSlice {
  /** Does the work of one slice. */
  run<Result>(work: (rows: number) => Result): Result;
  checkpoint(): Promise<void>;
}

/** Slices of a fixed number of rows, for work that an index bounds. */
export class FixedSlice implements TimeSlice {
  constructor(
    private readonly rows: number,
    private readonly client: string | undefined,
  ) {}

  run<Result>(work: (rows: number) => Result): Result {
    return work(this.rows);
  }

  checkpoint(): Promise<void> {
    return yieldFairly(this.client);
  }
}

/** Rows of the first slice, and the bounds of the next ones. */
const ROWS = { first: 64, min: 4, max: 1_024 };
/** A faster slice is followed by one of twice the rows, a slower one by one of half the rows. */
const FAST_MS = 1;
const SLOW_MS = 3;

/** Slices of one to three milliseconds, until the time of the query is over. */
export class BudgetedSlice implements TimeSlice {
  private rows = ROWS.first;

  constructor(
    private readonly budget: Pick<QueryBudget, 'measured'>,
    private readonly time: Pick<QueryTime, 'checkpoint'>,
  ) {}

  run<Result>(work: (rows: number) => Result): Result {
    const [result, ms] = this.budget.measured(() => work(this.rows));
    if (ms < FAST_MS) this.rows = Math.min(this.rows * 2, ROWS.max);
    if (ms > SLOW_MS) this.rows = Math.max(this.rows >> 1, ROWS.min);
    return result;
  }

  /** @throws AppError `query_too_expensive` */
  checkpoint(): Promise<void> {
    return this.time.checkpoint();
  }
}
