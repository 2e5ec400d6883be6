import { BACKGROUND } from '../../shared/task-scheduler.js';
import type { Clock } from '../ports/clock.js';
import type { DerivedData, DerivedTable } from '../ports/derived-data.js';
import type { Logger } from '../ports/logger.js';

/** How often the lease is extended, and how often a start logs how far the work is. */
const EXTEND_MS = 1_000;
const LOG_EVERY_MS = 5_000;

/** Makes the derived data that this release needs and earlier ones did not make. */
export class DerivedDataBuild {
  private logged: { readonly event: string; readonly at: number } | undefined;
  /** What the process waits for before it is ready, for a person; undefined if it does not. */
  pending: string | undefined;

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

  /**
   * Resolves when no record is stale, but for those that an earlier release writes meanwhile. One process makes them by a
   * lease; the others wait, and one of them goes on where that process stopped if it ends.
   * @param pause until this process looks again whether the lease is free
   * @throws AppError `unavailable`
   */
  async complete(pause: () => Promise<void>, isOver: () => boolean): Promise<void> {
    try {
      while (!(await this.run(isOver, (...progress) => this.report(...progress))) && !isOver()) await pause();
    } finally {
      this.pending = undefined;
    }
  }

  /**
   * Makes what is stale, unless another process does.
   * @param isOver called between two batches; the work ends if it returns true
   * @returns whether nothing is left to do
   * @throws AppError `unavailable`
   */
  async run(isOver: () => boolean, report: (event: string, records: number) => void = () => {}) {
    const { derived, holder, clock } = this;
    const stale = await staleTables(derived);
    if (!derived || stale.length === 0) return true;
    const othersRecords = await derived.lease(holder, 0);
    report(othersRecords === undefined ? MAKING : WAITING, othersRecords ?? 0);
    if (othersRecords !== undefined) return false;
    let records = 0;
    let leasedAt = clock.elapsed();
    for (const table of stale)
      for (let hasMore = true; hasMore; await BACKGROUND.yield()) {
        if (isOver()) return false;
        const made = await table.deriveNext();
        ({ hasMore } = made);
        records += made.records;
        report(MAKING, records);
        if (clock.elapsed() < leasedAt + EXTEND_MS) continue;
        leasedAt = clock.elapsed();
        if ((await derived.lease(holder, records)) !== undefined) return false;
      }
    await derived.release(holder);
    this.logger.info('derived data made', { records });
    return true;
  }

  private report(event: string, records: number): void {
    this.pending = `The store is not ready: ${event} (${records} records so far).`;
    const at = this.clock.elapsed();
    if (this.logged?.event === event && at < this.logged.at + LOG_EVERY_MS) return;
    this.logged = { event, at };
    this.logger.info(event, { records });
  }
}

const MAKING = 'making derived data';
const WAITING = 'another process makes derived data';

async function staleTables(derived: DerivedData | undefined): Promise<DerivedTable[]> {
  const stale: DerivedTable[] = [];
  for (const table of derived?.tables ?? []) if (await table.isStale()) stale.push(table);
  return stale;
}
