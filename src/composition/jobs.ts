import { setTimeout as sleep } from 'node:timers/promises';
import type { UsageCounter } from '../application/auth/key-usage.js';
import type { DerivedDataBuild } from '../application/maintenance/derived-data-build.js';
import { Retention } from '../application/maintenance/retention.js';
import type { Clock } from '../application/ports/clock.js';
import type { Logger } from '../application/ports/logger.js';
import type { WebhookSender } from '../application/webhooks/webhook-sender.js';
import type { Settings } from '../config/settings.js';
import type { Storage } from './storage.js';

/** What the service runs at intervals while its store is open. */
export interface Job {
  /** May end early if `isOver` returns true. */
  run(isOver: () => boolean): Promise<void>;
  /** The pause before the first run. */
  readonly firstMs: number;
  readonly intervalMs: number;
  /** Whether the job runs once more when the service stops. */
  readonly runsAtStop?: boolean;
  /** Ends what the job has begun, within so many milliseconds. */
  finish?(withinMs: number): Promise<void>;
  /** The warning in the log if a run fails. The next run tries again. */
  readonly failure: string;
}

export interface JobParts {
  readonly settings: Settings;
  readonly storage: Storage;
  readonly usageCounter: UsageCounter;
  readonly webhookSender: WebhookSender;
  readonly derivedDataBuild: DerivedDataBuild;
  readonly clock: Clock;
}

/** Reads the sender of webhooks only if there is one. */
export function serviceJobs(parts: JobParts): readonly Job[] {
  const { settings, storage, usageCounter, derivedDataBuild, clock } = parts;
  const { feedState } = storage;
  const retention = new Retention(storage.purgeable, clock);
  const jobs: Job[] = [
    {
      run: (isOver) => retention.purgeExpired(isOver),
      firstMs: 60_000,
      intervalMs: 10 * 60_000,
      failure: 'expired entries could not be purged; the next run tries again',
    },
    // A process that crashes loses the requests since the last run.
    {
      run: () => usageCounter.save(),
      firstMs: 10_000,
      intervalMs: 10_000,
      runsAtStop: true,
      failure: 'the usage of API keys could not be saved; the next run tries again',
    },
    // Of what a process of an earlier release writes while it still runs.
    {
      run: async (isOver) => {
        await derivedDataBuild.run(isOver);
      },
      firstMs: 3_000,
      intervalMs: 3_000,
      failure: 'derived data could not be made; the next run tries again',
    },
  ];
  if (settings.CHANGES === 'on') {
    const { webhookSender } = parts;
    jobs.push({
      run: () => webhookSender.run(),
      firstMs: 0,
      intervalMs: 250,
      finish: (withinMs) => webhookSender.stop(withinMs),
      failure: 'webhooks could not be sent, because the store fails; the next run tries again',
    });
  }
  // Also while nobody reads the feeds.
  if (feedState.maintain)
    jobs.push({
      run: async () => feedState.maintain?.(clock.now()),
      firstMs: 10_000,
      intervalMs: 10_000,
      failure: 'the feeds of changes could not be maintained; the next run tries again',
    });
  return jobs;
}

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
