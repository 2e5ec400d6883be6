import { setTimeout as sleep } from 'node:timers/promises';
import type { Retention } from '../application/maintenance/retention.js';
import type { Logger } from '../application/ports/logger.js';

const FIRST_MS = 60_000;
const INTERVAL_MS = 10 * 60_000;

/** Purges expired reservations and tombstones every ten minutes, one run at a time. It keeps no process alive. */
export class PurgeJob {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;

  constructor(
    private readonly retention: Pick<Retention, 'purgeExpired'>,
    private readonly logger: Logger,
    private readonly pauses = { firstMs: FIRST_MS, intervalMs: INTERVAL_MS },
  ) {}

  /** The store must be open until {@link stop} resolves. */
  start(): void {
    this.running ??= this.run();
  }

  /** Resolves when no run is active. No run begins after it. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { firstMs, intervalMs } = this.pauses;
    for (let ms = firstMs; await this.pause(ms); ms = intervalMs) await this.purge();
  }

  /** @returns whether the job goes on */
  private async pause(ms: number): Promise<boolean> {
    const { signal } = this.stopping;
    await sleep(ms, undefined, { ref: false, signal }).catch(() => undefined);
    return !signal.aborted;
  }

  private async purge(): Promise<void> {
    try {
      await this.retention.purgeExpired(() => this.stopping.signal.aborted);
    } catch (error) {
      this.logger.warn('expired entries could not be purged; the next run tries again', { error });
    }
  }
}
