import { queryTooExpensive } from '../../domain/errors.js';
import { yieldFairly } from '../../shared/event-loop.js';
import type { Clock } from '../ports/clock.js';

/** How long a query that no index serves may take. Only its own work counts, not that of others in between. */
export class QueryBudget {
  constructor(
    private readonly clock: Clock,
    readonly timeoutMs: number,
  ) {}

  /**
   * Starts to measure one query.
   * @param client the principal or address that asks, as in {@link ListQuery}
   * @param isEndless whether the query may take any time
   */
  start(client?: string, isEndless = false): QueryTime {
    return new QueryTime(this.clock, isEndless ? Number.POSITIVE_INFINITY : this.timeoutMs, client);
  }

  /** Returns the result of some work, and how many milliseconds it took. */
  measured<Result>(work: () => Result): [Result, number] {
    const started = this.clock.elapsed();
    const result = work();
    return [result, this.clock.elapsed() - started];
  }
}

export class QueryTime {
  private used = 0;
  private resumed: number;

  constructor(
    private readonly clock: Clock,
    private readonly timeoutMs: number,
    private readonly client: string | undefined,
  ) {
    this.resumed = clock.elapsed();
  }

  /**
   * Yields to other work.
   * @throws AppError `query_too_expensive` when the time is used up
   */
  async turn(): Promise<void> {
    this.used += this.clock.elapsed() - this.resumed;
    if (this.used >= this.timeoutMs) throw queryTooExpensive();
    await yieldFairly(this.client);
    this.resumed = this.clock.elapsed();
  }
}
