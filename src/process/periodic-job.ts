import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../application/ports/logger.js';
import type { Job } from '../composition/jobs.js';

/** Runs a job at intervals, one run at a time. It keeps no process alive. */
export class PeriodicJob {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private hasFailed = false;

  constructor(
    private readonly job: Job,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /** The store must be open until {@link stop} resolves. */
  start(): void {
    this.running ??= this.run();
  }

  /**
   * Resolves when no run is active. No run begins after it.
   * @param withinMs how long what a run has begun may go on
   */
  async stop(withinMs = 0): Promise<void> {
    this.stopping.abort();
    await this.running;
    if (!this.running) return;
    if (this.job.runsAtStop) await this.runOnce();
    await this.job.finish?.(withinMs);
  }

  private async run(): Promise<void> {
    const { firstMs, intervalMs } = this.job;
    for (let ms = firstMs; await this.pause(ms); ms = intervalMs) await this.runOnce();
  }

  /** @returns whether the job goes on */
  private async pause(ms: number): Promise<boolean> {
    const { signal } = this.stopping;
    await sleep(ms, undefined, { ref: false, signal }).catch(() => undefined);
    return !signal.aborted;
  }

  /** Of several failures in a row, the first one is logged. */
  private async runOnce(): Promise<void> {
    try {
      await this.job.run(() => this.stopping.signal.aborted);
      this.hasFailed = false;
    } catch (error) {
      if (!this.hasFailed) this.logger.warn(this.job.failure, { error });
      this.hasFailed = true;
    }
  }
}
