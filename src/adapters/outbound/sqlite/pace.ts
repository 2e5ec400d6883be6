import type { Deadline, QueryBudget } from '../../../application/query-budget.js';
import { turnInLine } from '../../../application/turns.js';

/** Rows of a first window, and how few or many the next ones may have. */
const FIRST = 256;
const MIN = 16;
const MAX = 16_384;

/** A window that takes so long is followed by a larger or a smaller one. */
const QUICK_MS = 1;
const SLOW_MS = 3;

/** Cuts a long work into windows of a millisecond or some, with turns for others in between. */
export class Pace {
  private readonly deadline: Deadline;
  private size = FIRST;

  constructor(private readonly budget: QueryBudget) {
    this.deadline = budget.start();
  }

  /** Does one window's work. */
  window<Result>(work: (size: number) => Result): Result {
    const [result, ms] = this.budget.measured(() => work(this.size));
    if (ms < QUICK_MS) this.size = Math.min(this.size * 2, MAX);
    if (ms > SLOW_MS) this.size = Math.max(this.size >> 1, MIN);
    return result;
  }

  /**
   * Lets others have their turn.
   * @throws CatalogueError `query_too_expensive`
   */
  async turn(): Promise<void> {
    this.deadline.check();
    await turnInLine();
  }
}
