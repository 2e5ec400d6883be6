import { BACKGROUND } from '../../shared/task-scheduler.js';
import type { Clock } from '../ports/clock.js';
import type { DerivedData } from '../ports/derived-data.js';
import type { Logger } from '../ports/logger.js';

/** How often the lease is extended, and how often the log says how far the work is. */
const EXTEND_MS = 1_000;
const LOG_EVERY_MS = 5_000;

/** Makes the derived data that this release needs and earlier ones did not make. */
export class DerivedDataBuild {
  private loggedAt = Number.NEGATIVE_INFINITY;
  private waitsFor: string | undefined;

  /**
   * @param derived absent if nothing outlives the process
   * @param holder the name of this process, which no other has
   */
  constructor(
    private readonly derived: DerivedData | undefined,
    private readonly logger: Pick<Logger, 'info'>,
    private readonly clock: Pick<Clock, 'elapsed'>,
    private readonly holder: string,
  ) {}

  /** What the process waits for before it is ready, for a person; undefined if it does not. */
  get pending(): string | undefined {
    return this.waitsFor;
  }

  /**
   * Resolves when no record is stale, but for those that an earlier release writes meanwhile. One process makes them by a
   * lease; the others wait, and one of them goes on where that process stopped if it ends.
   * @param pause until this process looks again whether the lease is free
   * @throws AppError `unavailable`
   */
  async complete(pause: () => Promise<void>, isOver: () => boolean): Promise<void> {
    try {
      while (!(await this.run(isOver, true)) && !isOver()) await pause();
    } finally {
      this.waitsFor = undefined;
    }
  }

  /**
   * Makes what is stale, unless another process does.
   * @param isOver called between two batches; the work ends if it returns true
   * @returns whether nothing is left to do
   * @throws AppError `unavailable`
   */
  async run(isOver: () => boolean, isAwaited = false): Promise<boolean> {
    const { derived, holder } = this;
    const stale = derived ? await this.staleTables(derived) : [];
    if (!derived || stale.length === 0) return true;
    let records = await derived.lease(holder, 0);
    const isOurs = records === undefined;
    if (isAwaited)
      this.report(isOurs ? 'making derived data' : 'another process makes derived data', records);
    if (records !== undefined) return false;
    records = 0;
    let extendedAt = this.clock.elapsed();
    for (const table of stale)
      for (let hasMore = true; hasMore; ) {
        if (isOver()) return false;
        const made = await table.deriveNext();
        records += made.records;
        ({ hasMore } = made);
        if (isAwaited) this.report('making derived data', records);
        if (this.clock.elapsed() >= extendedAt + EXTEND_MS) {
          extendedAt = this.clock.elapsed();
          if ((await derived.lease(holder, records)) !== undefined) return false;
        }
        await BACKGROUND.yield();
      }
    await derived.release(holder);
    if (isAwaited) this.logger.info('derived data made', { records });
    return true;
  }

  private async staleTables({ tables }: DerivedData): Promise<DerivedData['tables']> {
    const stale = await Promise.all(tables.map((table) => table.isStale()));
    return tables.filter((_, at) => stale[at]);
  }

  private report(event: string, records = 0): void {
    this.waitsFor = `The store is not ready: ${event} (${records} records so far).`;
    if (this.clock.elapsed() < this.loggedAt + LOG_EVERY_MS) return;
    this.loggedAt = this.clock.elapsed();
    this.logger.info(event, { records });
  }
}
