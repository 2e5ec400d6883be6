import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../application/ports/logger.js';

export interface PeriodicJobOptions {
  readonly firstMs: number;
  readonly intervalMs: number;
  /** Whether {@link PeriodicJob.stop} runs the job once more. */
  readonly runsAtStop?: boolean;
  /** The warning in the log if a run fails. The next run tries again. */
  readonly failure: string;
}

/** Runs a job at intervals, one run at a time. It keeps no process alive. */
export class PeriodicJob {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private hasFailed = false;

  /** @param job may end early if `isOver` returns true */
  constructor(
    private readonly job: (isOver: () => boolean) => Promise<void>,
    private readonly logger: Pick<Logger, 'warn'>,
    private readonly options: PeriodicJobOptions,
  ) {}

  /** The store must be open until {@link stop} resolves. */
  start(): void {
    this.running ??= this.run();
  }

  /** Resolves when no run is active. No run begins after it. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
    if (this.running && this.options.runsAtStop) await this.runOnce();
  }

  private async run(): Promise<void> {
    const { firstMs, intervalMs } = this.options;
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
      await this.job(() => this.stopping.signal.aborted);
      this.hasFailed = false;
    } catch (error) {
      if (!this.hasFailed) this.logger.warn(this.options.failure, { error });
      this.hasFailed = true;
    }
  }
}
