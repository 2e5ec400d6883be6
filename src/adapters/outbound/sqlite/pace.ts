import type { QueryBudget, QueryTime } from '../../../application/query-budget.js';
import { turnInLine } from '../../../shared/event-loop.js';

/** Cuts a long work into windows of some rows, with turns for others in between. */
export interface Pace {
  /** Does one window's work. */
  window<Result>(work: (rows: number) => Result): Result;
  turn(): Promise<void>;
}

/** Of windows whose work is known beforehand. */
export class SteadyPace implements Pace {
  constructor(
    private readonly rows: number,
    private readonly client: string | undefined,
  ) {}

  window<Result>(work: (rows: number) => Result): Result {
    return work(this.rows);
  }

  turn(): Promise<void> {
    return turnInLine(this.client);
  }
}

/** Rows of a first window, and how few or many the next ones may have. */
const SIZES = { first: 64, min: 4, max: 1_024 };
/** A window that takes so long is followed by a larger or a smaller one. */
const QUICK_MS = 1;
const SLOW_MS = 3;

/** Of windows that take a millisecond or some, until the query's time is over. */
export class BoundedPace implements Pace {
  private readonly time: QueryTime;
  private rows = SIZES.first;

  /** @param isEndless whether it goes on when the time is over */
  constructor(
    private readonly budget: QueryBudget,
    client: string | undefined,
    isEndless = false,
  ) {
    this.time = budget.start(client, isEndless);
  }

  window<Result>(work: (rows: number) => Result): Result {
    const [result, ms] = this.budget.measured(() => work(this.rows));
    if (ms < QUICK_MS) this.rows = Math.min(this.rows * 2, SIZES.max);
    if (ms > SLOW_MS) this.rows = Math.max(this.rows >> 1, SIZES.min);
    return result;
  }

  /** @throws CatalogueError `query_too_expensive` */
  turn(): Promise<void> {
    return this.time.turn();
  }
}
