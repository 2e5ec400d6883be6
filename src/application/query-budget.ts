import { queryTooExpensive } from '../domain/errors.js';
import { turnInLine } from '../shared/event-loop.js';
import type { Clock } from './ports/clock.js';

/** How long a query may take that no index serves. What counts is its own work, not that of others in between. */
export class QueryBudget {
  constructor(
    private readonly clock: Clock,
    readonly timeoutMs: number,
  ) {}

  /**
   * Begins now.
   * @param client whose query it is, as in {@link ListQuery}
   * @param isEndless whether the query may take any time
   */
  start(client?: string, isEndless = false): QueryTime {
    return new QueryTime(this.clock, isEndless ? Number.POSITIVE_INFINITY : this.timeoutMs, client);
  }

  /** Milliseconds that the work took. */
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
   * Lets others have their turn.
   * @throws CatalogueError `query_too_expensive` once the time is over
   */
  async turn(): Promise<void> {
    this.used += this.clock.elapsed() - this.resumed;
    if (this.used >= this.timeoutMs) throw queryTooExpensive();
    await turnInLine(this.client);
    this.resumed = this.clock.elapsed();
  }
}
