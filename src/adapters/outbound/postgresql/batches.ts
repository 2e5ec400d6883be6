import { AppError } from '../../../domain/errors.js';
import { isRefusedByOne } from './errors.js';

/** What one caller waits for. */
interface Waiter<Item, Result> {
  readonly items: readonly Item[];
  /** Its caller has left by then. */
  readonly deadline: number;
  resolve(results: readonly Result[]): void;
  reject(error: unknown): void;
}

export interface BatchLimits {
  /** The batches that may run at the same time: more than one, so that a stuck one does not delay all. */
  readonly maxConcurrent: number;
  /** The most items of a batch, unless one caller has more. */
  readonly items: number;
  /** About the most bytes of a batch, unless one caller has more. */
  readonly bytes: number;
  /** How long a caller waits. */
  readonly waitMs: number;
}

/**
 * Does what several callers want together: while that many batches run, callers collect for the next batch. So a statement
 * and its commit serve all who wait, and a caller who finds fewer running does not wait for others.
 */
export class Batches<Item, Result> {
  private readonly waiting: Waiter<Item, Result>[] = [];
  private running = 0;

  /**
   * @param work returns the results in the order of the items
   * @param now in milliseconds, from any point of time on
   */
  constructor(
    private readonly limits: BatchLimits,
    private readonly work: (items: readonly Item[]) => Promise<readonly Result[]>,
    private readonly bytesOf: (item: Item) => number,
    private readonly now = () => performance.now(),
  ) {}

  /** @returns the results in the order of the items */
  add(items: readonly Item[]): Promise<readonly Result[]> {
    const deadline = this.now() + this.limits.waitMs;
    return new Promise((resolve, reject) => {
      this.waiting.push({ items, deadline, resolve, reject });
      if (this.running < this.limits.maxConcurrent) void this.runAll();
    });
  }

  private async runAll(): Promise<void> {
    this.running++;
    for (let batch = this.next(); batch.length > 0; batch = this.next()) await this.run(batch);
    this.running--;
  }

  /** Takes the next callers from the queue, but for those who have left. */
  private next(): Waiter<Item, Result>[] {
    const batch: Waiter<Item, Result>[] = [];
    let items = 0;
    let bytes = 0;
    const now = this.now();
    for (let [first] = this.waiting; first; [first] = this.waiting) {
      const size = first.items.reduce((sum, item) => sum + this.bytesOf(item), 0);
      const fits = items + first.items.length <= this.limits.items && bytes + size <= this.limits.bytes;
      if (batch.length > 0 && !fits) break;
      this.waiting.shift();
      if (first.deadline <= now) continue;
      batch.push(first);
      items += first.items.length;
      bytes += size;
    }
    return batch;
  }

  /** If the server refuses a batch, the fault of one caller must not be that of the others. */
  private async run(batch: readonly Waiter<Item, Result>[]): Promise<void> {
    try {
      const results = await this.work(batch.flatMap(({ items }) => items));
      let start = 0;
      for (const { items, resolve } of batch) {
        resolve(results.slice(start, start + items.length));
        start += items.length;
      }
    } catch (error) {
      if (batch.length > 1 && (!(error instanceof AppError) || isRefusedByOne(error)))
        for (const waiter of batch) {
          if (waiter.deadline > this.now()) await this.run([waiter]);
          else waiter.reject(error);
        }
      else for (const { reject } of batch) reject(error);
    }
  }
}
