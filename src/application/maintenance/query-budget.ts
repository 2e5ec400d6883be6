import { queryTooExpensive } from '../../domain/errors.js';
import { BACKGROUND, type Task } from '../../shared/task-scheduler.js';
import type { Clock } from '../ports/clock.js';

/** The time that a query may take if no index serves it. Only its own work counts, not that of others in between. */
export class QueryBudget {
  constructor(
    private readonly clock: Clock,
    readonly timeoutMs: number,
  ) {}

  /** Starts the time of one query. It is unlimited if its turn may take long. */
  start(task = BACKGROUND): QueryTime {
    return new QueryTime(this.clock, task.mayTakeLong ? Number.POSITIVE_INFINITY : this.timeoutMs, task);
  }

  /** Starts the time of a query that may take any time, and still yields to other work. */
  startUnlimited(task = BACKGROUND): QueryTime {
    return this.start(task.unlimited());
  }
}

/** The time of one query. */
export class QueryTime {
  private used = 0;
  private resumed: number;

  constructor(
    private readonly clock: Clock,
    private readonly timeoutMs: number,
    private readonly task: Task,
  ) {
    this.resumed = clock.elapsed();
  }

  /**
   * Yields to other work. Call it between two pieces of the query.
   * @returns the milliseconds that the last piece took
   * @throws AppError `query_too_expensive` when the time is used up
   */
  async checkpoint(): Promise<number> {
    const took = this.clock.elapsed() - this.resumed;
    this.used += took;
    if (this.used >= this.timeoutMs) throw queryTooExpensive();
    await this.task.yield();
    this.resumed = this.clock.elapsed();
    return took;
  }
}
