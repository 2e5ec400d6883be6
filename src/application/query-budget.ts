import { queryTooExpensive } from '../domain/errors.js';
import type { Clock } from './ports/clock.js';

/** How long a query may take that no index serves. */
export class QueryBudget {
  constructor(
    private readonly clock: Clock,
    readonly timeoutMs: number,
  ) {}

  /** Begins now. */
  start(): Deadline {
    const end = this.clock.elapsed() + this.timeoutMs;
    return {
      check: () => {
        if (this.clock.elapsed() >= end) throw queryTooExpensive();
      },
    };
  }

  /** Milliseconds that the work took. */
  measured<Result>(work: () => Result): [Result, number] {
    const started = this.clock.elapsed();
    const result = work();
    return [result, this.clock.elapsed() - started];
  }
}

export interface Deadline {
  /** @throws CatalogueError `query_too_expensive` once the time is over */
  check(): void;
}
